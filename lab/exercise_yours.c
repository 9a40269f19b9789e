/* The exercises as edited, with plain and with counted accesses. */
#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include <math.h>

#include "lab/access.h"
#include "lab/exercises/exercise_1.h"
#include "lab/exercises/exercise_2.h"
#include "lab/exercises/exercise_3.h"
#include "lab/exercises/exercise_4.h"
#include "lab/exercises/exercise_5.h"

#include "lab/exercises/calls.h"

#define LAB_COUNTED
#include "lab/access.h"
#include "lab/exercises/exercise_1.h"
#include "lab/exercises/exercise_2.h"
#include "lab/exercises/exercise_3.h"
#include "lab/exercises/exercise_4.h"
#include "lab/exercises/exercise_5.h"

#include "lab/exercises/calls.h"

#define EXERCISE_FORMS exercise_yours
#include "lab/exercises/forms.h"
