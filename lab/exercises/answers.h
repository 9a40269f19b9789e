/* The answers and their calls, in one form of lab/access.h. No include guard. */
#include "lab/exercises/answer_1.h"
#include "lab/exercises/answer_2.h"
#include "lab/exercises/answer_3.h"
#include "lab/exercises/answer_4.h"
#include "lab/exercises/answer_5.h"

#include "lab/exercises/calls.h"
