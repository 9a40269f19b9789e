/* Agglomeration: a coarse level uses at most as many ranks as can have --agglomerate-below cells
 * each. With 0, only its number of boxes and the level rule limit the ranks. finest_ranks limits
 * the finest level, and with it all others. */
#include "plan/plan_stats.h"
#include "tests/lib/plan_case.h"

typedef struct {
  mg_device_t device;
  int64_t below, finest_ranks;
  int64_t ranks[7]; /* of 64^3, 32^3, 16^3, 8^3, 4^3, 2^3, 1^3 */
} case_t;

/* 8 ranks with one box of 32^3 each; from 8^3 on there is a single box. */
static const case_t cases[] = {
    {MG_DEVICE_CPU, 0, 0, {8, 8, 8, 1, 1, 1, 1}},   /* never gathers before the boxes merge */
    {MG_DEVICE_CPU, 1, 0, {8, 8, 8, 1, 1, 1, 1}},   /* one cell is enough */
    {MG_DEVICE_CPU, 512, 0, {8, 8, 8, 1, 1, 1, 1}}, /* 16^3 cells are exactly 8 x 512 */
    {MG_DEVICE_CPU, 513, 0, {8, 8, 4, 1, 1, 1, 1}}, /* one more: 4 ranks of 2 boxes equal 7 */
    {MG_DEVICE_CPU, MG_AGGLOMERATE_AUTO, 0, {8, 8, 1, 1, 1, 1, 1}},  /* 4096 */
    {MG_DEVICE_CUDA, MG_AGGLOMERATE_AUTO, 0, {8, 1, 1, 1, 1, 1, 1}}, /* 65536 */
    {MG_DEVICE_CUDA, 4096, 0, {8, 8, 1, 1, 1, 1, 1}},
    /* everything but the finest level on one rank */
    {MG_DEVICE_CPU, 1000000000000, 0, {8, 1, 1, 1, 1, 1, 1}},
    {MG_DEVICE_CPU, 0, 4, {4, 4, 4, 1, 1, 1, 1}},
    {MG_DEVICE_CPU, 0, 5, {4, 4, 4, 1, 1, 1, 1}}, /* the fullest of 5 would have as many boxes */
    {MG_DEVICE_CPU, 0, 1, {1, 1, 1, 1, 1, 1, 1}},
    {MG_DEVICE_CPU, 0, 9, {8, 8, 8, 1, 1, 1, 1}},
};

int main(void) {
  set_size(5, 1);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    params.device = cases[c].device;
    params.agglomerate_below = cases[c].below;
    params.finest_ranks = cases[c].finest_ranks;
    CHECK_INT(build(8), MG_OK);
    CHECK_INT(plan.n_levels, 7);
    for (int l = 0; l < plan.n_levels; l++)
      CHECK_INT(plan.level[l].layout.n_ranks, cases[c].ranks[l]);
    CHECK_INT(mg_plan_idle_ranks(&plan), 8 - cases[c].ranks[0]);
  }
  return TEST_RESULT();
}
