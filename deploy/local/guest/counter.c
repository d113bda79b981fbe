/* Writes "<boot id> <counter>" to a terminal every 10 ms, one line each: who reads it can tell two guests, or one guest run twice, apart. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 10000000L

static void read_boot_id(char *id, size_t size) {
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
  ssize_t length = fd < 0 ? 0 : read(fd, id, size - 1);
  id[length > 0 ? length : 0] = '\0';
  id[strcspn(id, "\n")] = '\0';
  close(fd);
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
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (unsigned long counter = 1;; counter++) {
    int length = snprintf(line, sizeof line, "%s %lu\r\n", id, counter);
    if (write(tty, line, length) < 0) return 1;
    next.tv_nsec += PERIOD_NS;
    if (next.tv_nsec >= 1000000000L) {
      next.tv_nsec -= 1000000000L;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
}
