/* SPDX-License-Identifier: BSD-3-Clause
   Copyright the huddle contributors

   What the program in the kernel tells of a page fault. Shared with it, and so C. */
#ifndef HUDDLE_THREADS_BPF_EVENT_H
#define HUDDLE_THREADS_BPF_EVENT_H

#include <linux/types.h>

struct huddle_bpf_fault {
  __u64 time_ns; /* CLOCK_MONOTONIC */
  __u64 address;
  __u32 process;
  __u32 thread;
};

#endif
