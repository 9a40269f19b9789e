/* The answers, with plain and with counted accesses. */
#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include <math.h>

#include "lab/access.h"
#include "lab/exercises/answer_1.h"
#include "lab/exercises/answer_2.h"
#include "lab/exercises/answer_3.h"
#include "lab/exercises/answer_4.h"
#include "lab/exercises/answer_5.h"

#include "lab/exercises/calls.h"

#define LAB_COUNTED
#include "lab/access.h"
#include "lab/exercises/answer_1.h"
#include "lab/exercises/answer_2.h"
#include "lab/exercises/answer_3.h"
#include "lab/exercises/answer_4.h"
#include "lab/exercises/answer_5.h"

#include "lab/exercises/calls.h"

#define EXERCISE_FORMS exercise_answers
#include "lab/exercises/forms.h"
