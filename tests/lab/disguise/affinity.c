/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Simulates processors: every program of a disguise loads this library by /etc/ld.so.preload. It
 * provides the affinity calls for DISGUISED processors and maps each to one of the real ones in the
 * list REAL. If two share a real one, each appears to programs as busy with other work.
 *
 * Threads and executed programs must inherit an affinity mask, as from the kernel. This library
 * keeps the mask in the timer slack of the thread, which is inherited the same way, is otherwise
 * unused here, and is only increased by the value of the mask in nanoseconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { usual_slack_ns = 50000, all = (1 << DISGUISED) - 1 };

static const int real_of[] = {REAL};
enum { reals = sizeof real_of / sizeof *real_of };

static int mask_in(long slack_ns) {
  const long beyond = slack_ns - usual_slack_ns;
  return beyond > 0 && beyond <= all ? (int)beyond : all;
}

/* Returns the timer slack of another process, or the usual one if it cannot be read. */
static long slack_ns_of(pid_t pid) {
  char path[64];
  long slack_ns = usual_slack_ns;
  snprintf(path, sizeof path, "/proc/%d/timerslack_ns", (int)pid);
  FILE* file = fopen(path, "re");
  if (file == NULL) return slack_ns;
  if (fscanf(file, "%ld", &slack_ns) != 1) slack_ns = usual_slack_ns;
  fclose(file);
  return slack_ns;
}

/* Writes the mask to `set`. The C library's wrapper also clears all other bits. */
static int tell(int mask, size_t bytes, cpu_set_t* set) {
  memset(set, 0, bytes);
  for (int pu = 0; pu < DISGUISED; ++pu) {
    if (mask >> pu & 1) CPU_SET_S((size_t)pu, bytes, set);
  }
  return 0;
}

/* Returns the bits of `set` that are simulated processors, and writes the real ones to `real`. */
static int translate(size_t bytes, const cpu_set_t* set, cpu_set_t* real) {
  int mask = 0;
  CPU_ZERO(real);
  for (int pu = 0; pu < DISGUISED; ++pu) {
    if (!CPU_ISSET_S((size_t)pu, bytes, set)) continue;
    mask |= 1 << pu;
    CPU_SET((size_t)real_of[pu % reals], real);
  }
  return mask;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t* set) {
  const int is_own = pid == 0 || pid == getpid() || pid == (pid_t)syscall(SYS_gettid);
  return tell(mask_in(is_own ? prctl(PR_GET_TIMERSLACK) : slack_ns_of(pid)), bytes, set);
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) {
  (void)thread;
  return tell(mask_in(prctl(PR_GET_TIMERSLACK)), bytes, set);
}

/* A thread cannot set the timer slack of another one, so only the real mask of others is set. */
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
  cpu_set_t real;
  const int mask = translate(bytes, set, &real);
  if (mask == 0) {
    errno = EINVAL;
    return -1;
  }
  if (syscall(SYS_sched_setaffinity, pid, sizeof real, &real) != 0) return -1;
  if (pid == 0 || pid == (pid_t)syscall(SYS_gettid))
    prctl(PR_SET_TIMERSLACK, usual_slack_ns + mask);
  return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
  if (pthread_equal(thread, pthread_self())) {
    return sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  }
  typedef int (*Setter)(pthread_t, size_t, const cpu_set_t*);
  const Setter next = (Setter)dlsym(RTLD_NEXT, "pthread_setaffinity_np");
  cpu_set_t real;
  return translate(bytes, set, &real) == 0 ? EINVAL : next(thread, sizeof real, &real);
}
