/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A filter under which system calls are as on Linux 4.18, the kernel of RHEL 8. For C and C++.
 */
#ifndef HUDDLE_TESTS_COMMON_OLD_KERNEL_H
#define HUDDLE_TESTS_COMMON_OLD_KERNEL_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/*
 * Makes all system calls that were added since Linux 5.1 fail with ENOSYS, in this process and its
 * future children. Returns 0, or -1 if the filter is not permitted. These calls have numbers from
 * 424 (pidfd_send_signal) on x86-64 and Arm.
 */
static inline int emulate_old_kernel(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 424, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#endif
