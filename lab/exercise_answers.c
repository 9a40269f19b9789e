/* The answers, with plain and with counted accesses. */
#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include <math.h>

#include "lab/access.h"
#include "lab/exercises/answers.h"

#define LAB_COUNTED
#include "lab/access.h"
#include "lab/exercises/answers.h"

#define EXERCISE_FORMS exercise_answers
#include "lab/exercises/forms.h"
