// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/own_faults.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/file_descriptor.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/protection.h"
#include "placement/threads/thread_list.h"

namespace huddle::threads {
namespace {

constexpr std::size_t pages = 256;

// Memory of our own to make faults in.
class Ground {
 public:
  Ground()
      : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        at_(::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    ::madvise(at_, bytes(), MADV_NOHUGEPAGE);
  }
  ~Ground() { ::munmap(at_, bytes()); }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  AddressRange range() const {
    const auto start = reinterpret_cast<std::uintptr_t>(at_);
    return {start, start + bytes()};
  }
  // Processor time for a write to each page, with other work in between as a program has it: a
  // fault that follows on a fault finds the kernel's data in the cache, and is half as dear.
  double write_s() {
    const double before_s = own_cpu_s();
    for (std::size_t page = 0; page < pages; ++page) {
      static_cast<volatile char*>(at_)[page * page_bytes_] = 1;
      for (std::size_t i = 0; i < work_.size(); i += line_bytes) ++work_[i];
    }
    return own_cpu_s() - before_s;
  }

 private:
  std::size_t bytes() const { return pages * page_bytes_; }
  static constexpr std::size_t line_bytes = 64, work_bytes = 256 << 10U;
  std::size_t page_bytes_;
  void* at_;
  std::vector<unsigned char> work_ = std::vector<unsigned char>(work_bytes);
};

std::size_t seen_in(const AddressRange& range, PageFaults& faults) {
  std::vector<PageFault> all;
  faults.drain(all);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const PageFault& one) {
    return one.thread == ::gettid() && one.address >= range.start && one.address < range.end;
  }));
}

// Of the page at this address; nothing where that cannot be read.
std::optional<bool> is_soft_dirty(std::uint64_t address) {
  constexpr unsigned soft_dirty_bit = 55;
  const FileDescriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>(address / page_bytes * sizeof entry);
  if (::pread(pagemap.number(), &entry, sizeof entry, at) != sizeof entry) return std::nullopt;
  return (entry >> soft_dirty_bit & 1U) != 0;
}

}  // namespace

Trial try_soft_dirty() {
  Ground ground;
  ground.write_s();
  const FileDescriptor forget(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (::write(forget.number(), "4", 1) != 1) return {.why_not = "the kernel refuses it"};
  const std::optional<bool> before = is_soft_dirty(ground.range().start);
  ground.write_s();
  const std::optional<bool> after = is_soft_dirty(ground.range().start);
  if (before == false && after == true) return {.works = true};
  return {.why_not = "not in this kernel"};
}

Trial try_page_faults(Observer observer) try {
  PageFaults faults(observer);
  if (!faults.add_thread(::gettid())) {
    return {.why_not = fmt::format("the kernel refuses the event ({})", std::strerror(errno))};
  }
  Ground ground;
  ground.write_s();
  // A ring of one thread has room for about so many.
  if (seen_in(ground.range(), faults) < pages / 2) return {.why_not = "faults are not reported"};
  return {.works = true};
} catch (const Error& error) {
  return {.why_not = error.what()};
}

Trial try_protection() {
  FileDescriptor userfaultfd = open_userfaultfd();
  if (!userfaultfd.is_open()) {
    return {.why_not = fmt::format("userfaultfd cannot protect without waiting for a handler ({}): "
                                   "that takes Linux 6.7",
                                   std::strerror(errno))};
  }
  Ground ground;
  ground.write_s();
  Protection protection(::getpid(), std::move(userfaultfd));
  protection.watch_only(ground.range());
  // A fault that somebody looks at costs more.
  PageFaults faults;
  faults.add_thread(::gettid());
  // The dearest of some: what it costs here is not to be underrated.
  constexpr int times = 5;
  double most_s = 0;
  protection.rearm(static_cast<int>(pages));
  for (int i = 0; i < times; ++i) {
    const double protected_s = ground.write_s();
    const double plain_s = ground.write_s();
    most_s = std::max(most_s, protected_s - plain_s);
    if (protection.rearm(static_cast<int>(pages)) != static_cast<int>(pages)) {
      return {.why_not = "protected pages were written to, and the kernel did not tell which"};
    }
  }
  return {.works = true, .fault_s = most_s / static_cast<double>(pages)};
}

}  // namespace huddle::threads
