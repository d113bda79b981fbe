/*
 * Writes "<boot id> <counter>" to a terminal every 10 ms, one line each: who reads it can tell two guests, or one guest run twice, apart.
 *
 * A second process is woken every 2 ms, so that the guest changes its address space: without KVM, QEMU notes a write to a page that it has sent already
 * only once its translation of the address was thrown away, and a guest that rarely switches would be migrated with old pages.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define WAKE_NS 2000000L
#define WAKES_PER_LINE 5

static void read_boot_id(char *id, size_t size) {
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
  ssize_t length = fd < 0 ? 0 : read(fd, id, size - 1);
  id[length > 0 ? length : 0] = '\0';
  id[strcspn(id, "\n")] = '\0';
  close(fd);
}

/* A process that does nothing but wake up for each byte that is written to what is returned; it ends with its parent. */
static int start_sleeper(void) {
  int ends[2];
  if (pipe(ends) < 0) return -1;
  if (fork() == 0) {
    char byte;
    close(ends[1]);
    while (read(ends[0], &byte, 1) > 0) continue;
    _exit(0);
  }
  close(ends[0]);
  return ends[1];
}

int main(int argc, char **argv) {
  int tty = open(argc > 1 ? argv[1] : "/dev/ttyS0", O_WRONLY | O_NOCTTY);
  if (tty < 0) {
    perror(argv[1]);
    return 1;
  }
  char id[64], line[128];
  read_boot_id(id, sizeof id);

  struct termios settings;
  if (tcgetattr(tty, &settings) == 0) {
    cfmakeraw(&settings);
    tcsetattr(tty, TCSANOW, &settings);
  }
  int sleeper = start_sleeper();
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (unsigned long counter = 1;; counter++) {
    int length = snprintf(line, sizeof line, "%s %lu\r\n", id, counter);
    if (write(tty, line, length) < 0) return 1;
    for (int wake = 0; wake < WAKES_PER_LINE; wake++) {
      if (write(sleeper, "", 1) < 0) return 1;
      next.tv_nsec += WAKE_NS;
      if (next.tv_nsec >= 1000000000L) {
        next.tv_nsec -= 1000000000L;
        next.tv_sec++;
      }
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
  }
}
