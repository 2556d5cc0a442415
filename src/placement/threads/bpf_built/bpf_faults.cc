// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/page_faults.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <huddle/page_faults.skel.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "placement/threads/bpf/event.h"

namespace huddle::threads {
namespace {

// Keeps libbpf from printing to standard error.
int say_nothing(libbpf_print_level, const char*, va_list) { return 0; }

[[noreturn]] void refuse(const char* what, int error) {
  const bool forbidden = error == EPERM || error == EACCES;
  throw FailureError(
      fmt::format("the kernel refuses {} ({}){}", what, std::strerror(error),
                  forbidden ? ": this requires root, or CAP_BPF and CAP_PERFMON" : ""));
}

int take(void* faults, void* data, std::size_t bytes) {
  huddle_bpf_fault one{};
  if (bytes < sizeof one) return 0;
  std::memcpy(&one, data, sizeof one);
  static_cast<std::vector<PageFault>*>(faults)->push_back(
      {one.time_ns, one.address, static_cast<pid_t>(one.process), static_cast<pid_t>(one.thread)});
  return 0;
}

}  // namespace

struct BpfFaults::Loaded {
  page_faults_bpf* skeleton = nullptr;
  ring_buffer* ring = nullptr;
  // Faults for the next drain(). The ring's callback has the address of this member.
  std::vector<PageFault> arrived = {};

  Loaded() = default;
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    ring_buffer__free(ring);
    page_faults_bpf::destroy(skeleton);
  }
};

BpfFaults::BpfFaults() : loaded_(std::make_unique<Loaded>()) {
  libbpf_set_print(say_nothing);
  loaded_->skeleton = page_faults_bpf::open();
  if (loaded_->skeleton == nullptr) refuse("a BPF program", errno);
  struct stat numbers {};
  if (::stat("/proc/self/ns/pid", &numbers) != 0) refuse("/proc/self/ns/pid", errno);
  loaded_->skeleton->rodata->namespace_device = numbers.st_dev;
  loaded_->skeleton->rodata->namespace_inode = numbers.st_ino;
  if (const int error = page_faults_bpf::load(loaded_->skeleton); error != 0) {
    refuse("a BPF program", -error);
  }
  loaded_->ring =
      ring_buffer__new(bpf_map__fd(loaded_->skeleton->maps.ring), take, &loaded_->arrived, nullptr);
  if (loaded_->ring == nullptr) refuse("a BPF ring", errno);
}

BpfFaults::~BpfFaults() = default;
BpfFaults::BpfFaults(BpfFaults&&) noexcept = default;
BpfFaults& BpfFaults::operator=(BpfFaults&&) noexcept = default;

bool BpfFaults::attach(int event) const {
  return ::ioctl(event, PERF_EVENT_IOC_SET_BPF,
                 bpf_program__fd(loaded_->skeleton->progs.huddle_page_fault)) == 0;
}

void BpfFaults::drain(std::vector<PageFault>& faults) {
  ring_buffer__consume(loaded_->ring);
  faults.insert(faults.end(), loaded_->arrived.begin(), loaded_->arrived.end());
  loaded_->arrived.clear();
}

std::uint64_t BpfFaults::seen() const { return loaded_->skeleton->bss->faults; }
std::uint64_t BpfFaults::lost() const { return loaded_->skeleton->bss->lost; }

}  // namespace huddle::threads
