/* What a plain program writes in a second: as many bytes in as many pieces as a dump, one process,
 * no library. `make write-rate && ./write-rate FILE GB`; the file is removed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECE_BYTES = 2 << 20 }; /* a slab of src/io/slabs.c */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Two pieces in turn, as a dump has them. */
static int write_pieces(int fd, long pieces) {
  char *piece[2] = {malloc(PIECE_BYTES), malloc(PIECE_BYTES)};
  int good = piece[0] && piece[1];
  for (int p = 0; good && p < 2; p++)
    memset(piece[p], p + 1, PIECE_BYTES);
  for (long i = 0; good && i < pieces; i++)
    for (ssize_t done = 0; good && done < PIECE_BYTES;) {
      const ssize_t n = write(fd, piece[i % 2] + done, (size_t)(PIECE_BYTES - done));
      good = n > 0;
      done += n;
    }
  free(piece[0]);
  free(piece[1]);
  return good;
}

int main(int argc, char **argv) {
  const double gb = argc == 3 ? strtod(argv[2], NULL) : 0.0;
  if (!(gb > 0.0)) {
    fprintf(stderr, "usage: write-rate FILE GB\n");
    return 2;
  }
  const long pieces = (long)(1e9 * gb / PIECE_BYTES) + 1;
  const int fd = open(argv[1], O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (fd < 0) {
    perror(argv[1]);
    return 3;
  }
  const double start = now();
  const int written = write_pieces(fd, pieces), closed = close(fd) == 0;
  const double seconds = now() - start;
  unlink(argv[1]);
  if (!written || !closed) {
    perror(argv[1]);
    return 3;
  }
  printf("%.2f GB/s\n", 1e-9 * (double)pieces * PIECE_BYTES / seconds);
  return 0;
}
