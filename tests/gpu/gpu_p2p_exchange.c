/* gpu_p2p_exchange: a process sends to itself through the kernels of the peer transport. Every
 * message arrives in order through all slots, even if the sender is two messages ahead. A message
 * that never arrives causes an error, not a hang. Every wrong word of a test pattern (group `peer`)
 * is counted. Skips without a device. */
#ifdef HAVE_CONFIG_H
#include "backend/peer.h"
#include "backend/sweeps.h"
#include "config.h"
#endif
#include "base/log.h"
#include "device/device_select.h"
#include "tests/lib/test.h"
#ifdef HAVE_CUDA
#include "backend/backend.h"
#include "backend/p2p.h"
#include "comm/comm.h"
#include <stdlib.h>

enum { N = 36, RIM = 1, SIDE = N + 2 * RIM, CELLS = SIDE * SIDE * SIDE, N_MESSAGES = 4 };
static const mg_vector_t OUT = MG_U, BETWEEN = MG_F, IN = MG_DIRECTION;

/* Where kernels are launched: on the first queue, or on the second one, which uses another
 * launch shape. The SHARED variants launch as if many ranks shared the device, with one block
 * for all tiles. */
typedef enum { FIRST, BESIDE, FIRST_SHARED, BESIDE_SHARED, N_PLACES } place_t;
enum { SHARERS = 100000 };

static bool is_beside(place_t place) {
  return place == BESIDE || place == BESIDE_SHARED;
}

/* A patch of three vectors (others are absent): outgoing, one in between, and incoming. */
static mg_patch_t patch;
static mg_view_t view;
static char *window; /* both ends of all messages */
static const size_t BLOCK_BYTES = 4 * CELLS * sizeof(double);

static void must(mg_status_t status) {
  if (status == MG_OK) return;
  fprintf(stderr, "a call failed: %s\n", mg_status_name(status));
  exit(1);
}

/* Message shapes, two cuboids each: faces, rows along an edge, a block, and one too large to
 * travel as words. */
static mg_copy_t piece(int message, int part) {
  static const int32_t shape[N_MESSAGES][2][3] = {{{1, N, N}, {N, 1, N}},
                                                  {{N, N, 1}, {1, 1, 7}},
                                                  {{N, N, 8}, {3, 5, 2}},
                                                  {{N, N, N}, {3, 5, 2}}};
  mg_copy_t c = {.src_patch = 0, .dst_patch = 0};
  for (int d = 0; d < 3; d++) {
    c.n[d] = shape[message][part][d];
    c.src_lo[d] = N - c.n[d];
    c.dst_lo[d] = 0;
  }
  return c;
}

/* Copy a vector with its ghosts from or to a dense array. */
static void move(const mg_copy_t *all, double *values, int vec) {
  const mg_copy_job_t job = {&view, &view, values, all, 1};
  mg_copies_t *copies;
  must(mg_backend_cuda.prepare_copies(&job, &copies));
  must(mg_backend_cuda.copy(copies, vec, vec));
  must(mg_backend_cuda.queue.wait());
  mg_backend_cuda.release_copies(copies);
}

static void set(double *values, int vec) {
  const mg_copy_t all = {.src_patch = -1, .dst_lo = {-RIM, -RIM, -RIM}, .n = {SIDE, SIDE, SIDE}};
  move(&all, values, vec);
}

static void get(double *values, int vec) {
  const mg_copy_t all = {.dst_patch = -1, .src_lo = {-RIM, -RIM, -RIM}, .n = {SIDE, SIDE, SIDE}};
  move(&all, values, vec);
}

static size_t at(const int32_t lo[3], int i, int j, int k) {
  return (size_t)(lo[0] + i + RIM) +
         SIDE * ((size_t)(lo[1] + j + RIM) + SIDE * (size_t)(lo[2] + k + RIM));
}

/* Create both ends of one message of two cuboids, plus a local copy into ghosts. `one_way`: as
 * if the other side had nothing to send. Each memory kind has its own block, in which offsets
 * start. */
static mg_p2p_t *connect(int message, bool one_way, place_t place) {
  mg_copy_t pack[2], unpack[2];
  const mg_copy_t local[1] = {{.src_lo = {3, 4, 5}, .dst_lo = {N, 2, 1}, .n = {1, 2, 3}}};
  int64_t doubles = 0;
  for (int part = 0; part < 2; part++) {
    pack[part] = unpack[part] = piece(message, part);
    pack[part].dst_patch = unpack[part].src_patch = -1;
    pack[part].buffer = unpack[part].buffer = doubles;
    doubles += (int64_t)pack[part].n[0] * pack[part].n[1] * pack[part].n[2];
  }
  const mg_p2p_bytes_t bytes = mg_backend_cuda.p2p->bytes(pack, 2, 0, doubles);
  char *block = window + (size_t)(2 * (N_PLACES * message + place) + one_way) * BLOCK_BYTES;
  char *acks = block + bytes.slots, *arrivals = acks + (bytes.acks + 15) / 16 * 16;
  CHECK(arrivals + bytes.arrivals <= block + BLOCK_BYTES);
  CHECK_INT(bytes.arrivals > 0, doubles > MG_P2P_WORDS_VALUES);
  const mg_p2p_message_t ends = {.slots = block,
                                 .arrivals = arrivals,
                                 .acks = one_way ? acks : NULL,
                                 .values = doubles,
                                 .rank = 7};
  const mg_p2p_job_t job = {.src = &view,
                            .dst = &view,
                            .pack = pack,
                            .unpack = unpack,
                            .local = local,
                            .n_pack = 2,
                            .n_unpack = 2,
                            .n_local = 1,
                            .sent = &ends,
                            .received = &ends,
                            .n_sent = 1,
                            .n_received = 1,
                            .sharers = place >= FIRST_SHARED ? SHARERS : 1};
  mg_p2p_t *mail;
  must(mg_backend_cuda.p2p->create(&job, &mail));
  return mail;
}

/* Check what a message wrote into vector IN. Where two cuboids overlap the later one wins, and
 * then either value is correct. */
static void check(const double *sent, const double *got, int message) {
  int wrong = 0;
  for (int part = 0; part < 2; part++) {
    const mg_copy_t c = piece(message, part), other = piece(message, 1 - part);
    for (int k = 0; k < c.n[2]; k++)
      for (int j = 0; j < c.n[1]; j++)
        for (int i = 0; i < c.n[0]; i++) {
          const double value = got[at(c.dst_lo, i, j, k)];
          const bool both = i < other.n[0] && j < other.n[1] && k < other.n[2];
          wrong += value != sent[at(c.src_lo, i, j, k)] &&
                   !(both && value == sent[at(other.src_lo, i, j, k)]);
        }
  }
  CHECK_INT(wrong, 0);
}

static void check_local(const double *sent, const double *got) {
  static const int32_t from[3] = {3, 4, 5}, to[3] = {N, 2, 1};
  int wrong = 0;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 2; j++)
      wrong += got[at(to, 0, j, k)] != sent[at(from, 0, j, k)];
  CHECK_INT(wrong, 0);
}

static void begin(place_t place) {
  if (is_beside(place)) must(mg_backend_cuda.overlap->stream_fork());
}

static void end(place_t place) {
  if (is_beside(place)) must(mg_backend_cuda.overlap->stream_join());
}

static void test_messages(double *sent, double *got, place_t place) {
  for (int way = 0; way < 2 * N_MESSAGES; way++) {
    const int m = way / 2;
    mg_p2p_t *mail = connect(m, way % 2 == 1, place);
    for (int turn = 0; turn < 5; turn++) {
      for (int c = 0; c < CELLS; c++) {
        sent[c] = 1000.0 * m + turn + 1e-6 * c;
        got[c] = -1.0;
      }
      set(sent, OUT);
      set(got, BETWEEN);
      set(got, IN);
      begin(place);
      /* Use one launch and two launches alternately; one launch also for two vectors. */
      if (turn % 2 == 0) {
        const mg_vector_t from[] = {OUT, OUT}, to[] = {IN, BETWEEN};
        CHECK_INT(mg_backend_cuda.p2p->exchange(mail, from, to, turn == 2 ? 2 : 1, turn == 4),
                  MG_OK);
      } else {
        CHECK_INT(mg_backend_cuda.p2p->send(mail, OUT, IN), MG_OK);
        CHECK_INT(mg_backend_cuda.p2p->receive(mail, IN), MG_OK);
      }
      end(place);
      CHECK_INT(mg_backend_cuda.queue.wait(), MG_OK);
      get(got, IN);
      check(sent, got, m);
      check_local(sent, got);
      if (turn != 2) continue;
      get(got, BETWEEN);
      check(sent, got, m);
      check_local(sent, got);
    }
    /* Send two messages before any receive, one per slot; they arrive in order. */
    for (int turn = 0; turn < 2; turn++) {
      for (int c = 0; c < CELLS; c++)
        sent[c] = turn + 1e-6 * c;
      set(sent, OUT);
      begin(place);
      CHECK_INT(mg_backend_cuda.p2p->send(mail, OUT, IN), MG_OK);
      end(place);
    }
    for (int turn = 0; turn < 2; turn++) {
      for (int c = 0; c < CELLS; c++)
        sent[c] = turn + 1e-6 * c;
      begin(place);
      CHECK_INT(mg_backend_cuda.p2p->receive(mail, IN), MG_OK);
      end(place);
      CHECK_INT(mg_backend_cuda.queue.wait(), MG_OK);
      get(got, IN);
      check(sent, got, m);
    }
    mg_backend_cuda.p2p->free(mail);
  }
}

/* Nobody sends: the receiver gives up and reports the rank it waited for. Runs last because the
 * error persists. */
static void test_timeout(void) {
  mg_p2p_t *mail = connect(0, false, FIRST);
  mg_p2p_timeout_s = 0.2;
  /* This end restarts while the window has advanced. */
  for (int n = 0; n < 8; n++)
    CHECK_INT(mg_backend_cuda.p2p->receive(mail, IN), MG_OK);
  CHECK_INT(mg_backend_cuda.queue.wait(), MG_ERR_COMM);
  mg_backend_cuda.p2p->free(mail);
}

/* A stored pattern has no wrong words. Cleared words are wrong, and all of another pattern. */
static void test_pattern(void) {
  const mg_backend_peer_t *peer = mg_backend_cuda.peer;
  enum { WORDS = 1000002, FIRST_ZERO = 77777 };
  const size_t bytes = WORDS * sizeof(uint64_t);
  mg_word_errors_t errors;
  CHECK_INT(peer->store(window, bytes, 3), MG_OK);
  CHECK_INT(peer->check(window, bytes, 3, &errors), MG_OK);
  CHECK_INT(errors.n, 0);
  CHECK_INT(peer->check(window, bytes, 4, &errors), MG_OK);
  CHECK_INT(errors.n, WORDS);
  CHECK_INT(errors.first, 0);
  CHECK_INT(mg_backend_cuda.clear(window + bytes - 8, 8), MG_OK);
  CHECK_INT(mg_backend_cuda.clear(window + (size_t)FIRST_ZERO * 8, 8), MG_OK);
  CHECK_INT(peer->check(window, bytes, 3, &errors), MG_OK);
  CHECK_INT(errors.n, 2);
  CHECK_INT(errors.first, FIRST_ZERO);
  CHECK(errors.found == 0 && errors.expected != 0);
  must(mg_backend_cuda.clear(window, bytes)); /* messages expect zeros */
  must(mg_backend_cuda.queue.wait());
}

int main(int argc, char **argv) {
  must(mg_comm_init(&argc, &argv));
  mg_log_setup(0, 1, MG_LOG_QUIET);
  if (mg_device_count() == 0) {
    mg_comm_finalize();
    return test_skip("no CUDA device");
  }
  static mg_params_t params;
  mg_params_defaults(&params);
  must(mg_device_choose(&params));
  void *memory, *vectors;
  unsigned char handle[MG_PEER_HANDLE_BYTES];
  must(mg_backend_cuda.peer->alloc(2 * N_PLACES * N_MESSAGES * BLOCK_BYTES, &memory, handle));
  window = memory;
  must(mg_backend_cuda.alloc(3 * CELLS * sizeof(double), MG_SPACE_LEVEL, &vectors));
  patch = (mg_patch_t){.n = {N, N, N}, .jstride = SIDE, .kstride = SIDE * SIDE};
  static const int stored[3] = {OUT, BETWEEN, IN};
  for (int v = 0; v < 3; v++)
    patch.vec[stored[v]] = (double *)vectors + v * CELLS + RIM * (1 + SIDE + SIDE * SIDE);
  view = (mg_view_t){.patch = &patch, .n_patches = 1, .n = {N, N, N}, .cells = (int64_t)N * N * N};
  void *sent, *got;
  must(mg_backend_cuda.alloc(CELLS * sizeof(double), MG_SPACE_SHARED, &sent));
  must(mg_backend_cuda.alloc(CELLS * sizeof(double), MG_SPACE_SHARED, &got));
  test_pattern();
  for (int place = 0; place < N_PLACES; place++)
    test_messages(sent, got, (place_t)place);
  test_timeout();
  mg_backend_cuda.release(sent, CELLS * sizeof(double), MG_SPACE_SHARED);
  mg_backend_cuda.release(got, CELLS * sizeof(double), MG_SPACE_SHARED);
  mg_backend_cuda.release(vectors, 3 * CELLS * sizeof(double), MG_SPACE_LEVEL);
  mg_backend_cuda.peer->release(memory);
  mg_device_close();
  mg_comm_finalize();
  return TEST_RESULT();
}
#else
int main(void) {
  return test_skip("build without CUDA");
}
#endif
