// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/own_faults.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "memory/descriptor.h"
#include "threads/helper/greeting.h"
#include "threads/page_faults.h"
#include "threads/protection.h"
#include "threads/thread_list.h"

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
  // Processor time for a write to each page.
  double write_s() const {
    const double before_s = own_cpu_s();
    for (std::size_t page = 0; page < pages; ++page) {
      static_cast<volatile char*>(at_)[page * page_bytes_] = 1;
    }
    return own_cpu_s() - before_s;
  }

 private:
  std::size_t bytes() const { return pages * page_bytes_; }
  std::size_t page_bytes_;
  void* at_;
};

std::size_t seen_in(const AddressRange& range, PageFaults& faults) {
  std::vector<PageFault> all;
  faults.drain(all);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const PageFault& one) {
    return one.thread == ::gettid() && one.address >= range.start && one.address < range.end;
  }));
}

std::optional<PageFaults> own_page_faults() {
  PageFaults faults = PageFaults::of_running();
  if (!faults.add_thread(::gettid())) return std::nullopt;
  return faults;
}

memory::Descriptor open_userfaultfd() {
  memory::Descriptor opened(static_cast<int>(
      ::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | HUDDLE_UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | HUDDLE_UFFD_WP_ASYNC;
  if (opened.is_open() && ::ioctl(opened.number(), UFFDIO_API, &api) == 0) return opened;
  return {};
}

}  // namespace

Trial try_page_faults() {
  std::optional<PageFaults> faults = own_page_faults();
  if (!faults) {
    return {.why_not = fmt::format("the kernel refuses the event ({})", std::strerror(errno))};
  }
  const Ground ground;
  ground.write_s();
  // A ring of one thread has room for about so many.
  if (seen_in(ground.range(), *faults) < pages / 2) return {.why_not = "faults are not reported"};
  return {.works = true};
}

Trial try_protection() {
  memory::Descriptor userfaultfd = open_userfaultfd();
  if (!userfaultfd.is_open()) {
    return {.why_not = fmt::format("userfaultfd cannot protect without waiting for a handler ({}): "
                                   "that takes Linux 6.7",
                                   std::strerror(errno))};
  }
  const Ground ground;
  ground.write_s();
  Protection protection(::getpid(), std::move(userfaultfd));
  protection.watch_only(ground.range());
  protection.rearm(static_cast<int>(pages));
  std::optional<PageFaults> faults = own_page_faults();
  const double protected_s = ground.write_s();
  const double plain_s = ground.write_s();
  const int written = protection.rearm(static_cast<int>(pages));
  if (written != static_cast<int>(pages)) {
    return {.why_not = "protected pages were written to, and the kernel did not tell which"};
  }
  return {.works = true,
          .fault_s = std::max(protected_s - plain_s, 0.0) / static_cast<double>(pages)};
}

}  // namespace huddle::threads
