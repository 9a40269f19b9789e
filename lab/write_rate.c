/* Write bandwidth of a plain program, to compare dumps with: one process writes memory in pieces of
 * the size of a dump's. `make write-rate && ./write-rate FILE GB`; the file is removed. */
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

static int write_pieces(int fd, const char *memory, long pieces) {
  for (long i = 0; i < pieces; i++)
    for (ssize_t done = 0; done < PIECE_BYTES;) {
      const ssize_t n = write(fd, memory + i * PIECE_BYTES + done, (size_t)(PIECE_BYTES - done));
      if (n <= 0) return 0;
      done += n;
    }
  return 1;
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
  char *memory = malloc((size_t)pieces * PIECE_BYTES);
  if (!memory) {
    fprintf(stderr, "write-rate: no memory for %g GB\n", gb);
    unlink(argv[1]);
    return 3;
  }
  memset(memory, 1, (size_t)pieces * PIECE_BYTES);
  const double start = now();
  const int written = write_pieces(fd, memory, pieces), closed = close(fd) == 0;
  const double seconds = now() - start;
  unlink(argv[1]);
  free(memory);
  if (!written || !closed) {
    perror(argv[1]);
    return 3;
  }
  printf("%.2f GB/s\n", 1e-9 * (double)pieces * PIECE_BYTES / seconds);
  return 0;
}
