/* The exercises as edited and their calls, in one form of lab/access.h. No include guard. */
#include "lab/exercises/exercise_1.h"
#include "lab/exercises/exercise_2.h"
#include "lab/exercises/exercise_3.h"
#include "lab/exercises/exercise_4.h"
#include "lab/exercises/exercise_5.h"

#include "lab/exercises/calls.h"
