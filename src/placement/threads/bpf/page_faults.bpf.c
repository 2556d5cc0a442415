/* SPDX-License-Identifier: BSD-3-Clause
   Copyright the huddle contributors

   The BPF program that runs at each page fault counted by the software event of a watched program.
   Writes thread and address to one ring for all CPUs, and counts the faults. Calls no helper that
   the kernel reserves for programs under the GPL. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "event.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 20); /* 32768 faults */
} ring SEC(".maps");

/* The user's PID namespace: in a container, process ids differ from the kernel's. */
const volatile __u64 namespace_device = 0;
const volatile __u64 namespace_inode = 0;

__u64 faults = 0;
__u64 lost = 0; /* faults that did not fit into the ring */

SEC("perf_event")
int huddle_page_fault(struct bpf_perf_event_data* context) {
  struct bpf_pidns_info numbers;
  struct huddle_bpf_fault* fault;

  if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &numbers, sizeof numbers) != 0)
    return 0;
  __sync_fetch_and_add(&faults, 1);
  fault = bpf_ringbuf_reserve(&ring, sizeof *fault, 0);
  if (!fault) {
    __sync_fetch_and_add(&lost, 1);
    return 0;
  }
  fault->time_ns = bpf_ktime_get_ns();
  fault->address = context->addr;
  fault->process = numbers.tgid;
  fault->thread = numbers.pid;
  /* No wake-up: the agent polls the ring every few milliseconds. */
  bpf_ringbuf_submit(fault, BPF_RB_NO_WAKEUP);
  return 0; /* the event itself records nothing */
}

char terms[] SEC("license") = "BSD";
