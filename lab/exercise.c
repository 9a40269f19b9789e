/* `hpgmg-bench exercise N`: the verdict on lab/exercises/exercise_N.h, and its time beside that of
 * the answer. The verdict depends on results and counted bytes alone. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "io/report/report.h"
#include "lab/exercise.h"
#include "lab/lab_cpu.h"

typedef struct {
  int number;
  const exercise_form_t *form;
  const exercise_data_t *d;
  double result;
} work_t;

static void run(void *arg) {
  work_t *w = arg;
  const exercise_result_t kind = exercise_info[w->number - 1].result;
  w->result = 0.0;
#pragma omp parallel
  {
    int64_t first, last;
    double mine = 0.0;
    lab_share(w->d->n, 8, &first, &last);
    for (int pass = 0; pass < w->form->passes; pass++) {
      mine = exercise_join(kind, mine, w->form->run(w->d, pass, first, last, 1));
#pragma omp barrier
    }
#pragma omp critical
    w->result = exercise_join(kind, w->result, mine);
  }
}

/* A row; none if the result is wrong. */
static mg_status_t add_row(lab_t *lab, int number, const exercise_memory_t *m,
                           const exercise_form_t *form, const char *name,
                           exercise_verdict_t *verdict) {
  work_t work = {number, form, &m->d, 0.0};
  char how[64];
  lab_row_t row = {.threads = lab->threads,
                   .elements = m->d.n,
                   .useful = exercise_info[number - 1].bytes,
                   .requested = verdict->requested,
                   .moved = verdict->moved};
  snprintf(how, sizeof how, "n = %lld, %d thread%s", (long long)m->d.n, lab->threads,
           lab->threads == 1 ? "" : "s");
  exercise_fill(number, form, m);
  run(&work);
  if (!exercise_compare(number, form, m, work.result, how, verdict)) return MG_OK;
  row.seconds = lab_seconds(lab, run, &work);
  return lab_add(lab, &row, "%s", name);
}

mg_status_t exercise_measure_cpu(lab_t *lab, exercise_verdict_t *verdict,
                                 exercise_verdict_t *answer) {
  const int number = lab->exercise.number;
  exercise_memory_t m = {.d = exercise_shape(number, lab->bytes)};
  m.d.spike = m.d.n - 1;
  mg_status_t status = exercise_allocate(number, &m);
  if (status == MG_OK)
    status = add_row(lab, number, &m, &exercise_yours[number - 1], "yours", verdict);
  if (status == MG_OK && verdict->right)
    status = add_row(lab, number, &m, &exercise_answers[number - 1], "answer", answer);
  exercise_free(&m);
  return status;
}

typedef mg_status_t (*measure_t)(lab_t *lab, exercise_verdict_t *verdict,
                                 exercise_verdict_t *answer);

static mg_status_t run_exercise(lab_t *lab, measure_t measure) {
  const int number = lab->exercise.number;
  exercise_verdict_t yours, answer;
  MG_TRY(exercise_check(number, &exercise_yours[number - 1], &yours));
  MG_TRY(exercise_check(number, &exercise_answers[number - 1], &answer));
  if (yours.right) {
    lab_table(lab, "exercise", "%d, %s, arrays of %.4g MiB", number,
              exercise_info[number - 1].title, (double)lab->bytes / (1 << 20));
    MG_TRY(measure(lab, &yours, &answer));
  }
  lab->exercise.unsolved = !yours.solved;
  if (lab->text) fprintf(lab->text, "\n%s\n", yours.text);
  if (lab->text) mg_report_flush(lab->text);
  return MG_OK;
}

mg_status_t lab_exercise_cpu(lab_t *lab) {
  return run_exercise(lab, exercise_measure_cpu);
}

#ifdef HAVE_CUDA
mg_status_t lab_exercise_cuda(lab_t *lab) {
  return run_exercise(lab, exercise_measure_cuda);
}
#endif
