/* SPDX-License-Identifier: BSD-3-Clause
   Copyright the huddle contributors

   A page fault as reported by the BPF program. In C, because both sides include it. */
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
