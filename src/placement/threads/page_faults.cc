// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/page_faults.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "placement/threads/protection.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch_stream.h"

namespace huddle::threads {
namespace {

// Room for 4096 faults per hardware thread between two reads. By default the kernel lets users lock
// 516 KB per hardware thread, for all observed programs together. If that does not suffice, rings
// are halved down to one page.
constexpr std::size_t pages_a_processor = 32;
constexpr std::size_t pages_a_thread = 4;

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

perf_event_attr attributes() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  attr.task = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

FileDescriptor open_event(perf_event_attr& attr, pid_t thread, int processor) {
  return FileDescriptor(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, thread, processor, -1, PERF_FLAG_FD_CLOEXEC)));
}

// Returns the CPUs of the process's affinity mask, as rings on others would stay empty but use the
// memory that the user's programs share. Returns all CPUs if the mask cannot be read.
std::vector<int> usable_processors(pid_t process) {
  if (const auto mask = SystemMasks().mask(process); mask && !mask->empty()) return mask->cpus();
  std::vector<int> all(static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Layout of the samples that attributes() requests, in the kernel's order.
struct FaultSample {
  perf_event_header header;
  std::uint32_t process, thread;
  std::uint64_t time_ns;
  std::uint64_t address;
};
struct Fork {
  perf_event_header header;
  std::uint32_t process, parent_process;
  std::uint32_t thread, parent_thread;
  std::uint64_t time_ns;
};
struct Lost {
  perf_event_header header;
  std::uint64_t id, count;
};

}  // namespace

PageFaults::Ring::Ring(FileDescriptor opened, std::size_t data_pages, pid_t of_thread)
    : event(std::move(opened)), thread(of_thread), bytes((data_pages + 1) * page_bytes()) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.number(), 0);
  if (at != MAP_FAILED) {
    head = static_cast<perf_event_mmap_page*>(at);
  } else if (errno == EPERM) {
    errno = ENOMEM;  // the memory for rings is used up; EPERM would mean that events are forbidden
  }
}

PageFaults::Ring::Ring(Ring&& other) noexcept
    : event(std::move(other.event)),
      head(std::exchange(other.head, nullptr)),
      thread(other.thread),
      bytes(other.bytes) {}

PageFaults::Ring& PageFaults::Ring::operator=(Ring&& other) noexcept {
  std::swap(event, other.event);
  std::swap(head, other.head);
  std::swap(thread, other.thread);
  std::swap(bytes, other.bytes);
  return *this;
}

PageFaults::Ring::~Ring() {
  if (head != nullptr) ::munmap(head, bytes);
}

namespace {

constexpr std::string_view memory_remedy =
    ": the memory that a user may lock for perf is in use, for example by the observation of other "
    "ranks; observe fewer ranks per node, raise the limit of 'ulimit -l', or, as root, raise "
    "'sysctl kernel.perf_event_mlock_kb'";

std::string_view remedy_for(int error) {
  if (error == EACCES || error == EPERM) {
    return ": as root, 'sysctl kernel.perf_event_paranoid=2' lets users observe their own programs";
  }
  return error == ENOMEM ? memory_remedy : "";
}

}  // namespace

void PageFaults::fail_to_open(int error) {
  throw FailureError(fmt::format("page faults cannot be observed ({}){}", std::strerror(error),
                                 remedy_for(error)));
}

PageFaults::PageFaults(Observer observer) {
  if (observer == Observer::bpf) bpf_.emplace();
}

bool PageFaults::is_observed(const FileDescriptor& event) const {
  return !bpf_ || bpf_->attach(event.number());
}

// An inherited event must belong to one CPU, or its ring cannot be mapped. The BPF program is
// inherited with it.
PageFaults PageFaults::from_exec_of(pid_t process, Observer observer) {
  PageFaults faults(observer);
  for (std::size_t data_pages = pages_a_processor; data_pages > 0; data_pages /= 2) {
    if (faults.open_rings(process, data_pages)) return faults;
    faults.rings_.clear();
  }
  fail_to_open(ENOMEM);
}

bool PageFaults::open_rings(pid_t process, std::size_t data_pages) {
  perf_event_attr attr = attributes();
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  for (const int processor : usable_processors(process)) {
    FileDescriptor event = open_event(attr, process, processor);
    if (!event.is_open()) {
      if (errno == ENODEV) continue;  // that CPU is offline
      fail_to_open(errno);
    }
    if (!is_observed(event)) fail_to_open(errno);
    Ring ring(std::move(event), data_pages, 0);
    if (ring.head == nullptr && errno == ENOMEM) return false;
    if (ring.head == nullptr) fail_to_open(errno);
    rings_.push_back(std::move(ring));
  }
  return true;
}

std::size_t PageFaults::locked_bytes() const {
  return std::transform_reduce(rings_.begin(), rings_.end(), std::size_t{0}, std::plus<>(),
                               [](const Ring& ring) { return ring.bytes; });
}

bool PageFaults::add_thread(pid_t thread) {
  perf_event_attr attr = attributes();
  FileDescriptor event = open_event(attr, thread, -1);
  if (!event.is_open() || !is_observed(event)) return false;
  Ring ring(std::move(event), pages_a_thread, thread);
  for (std::size_t data_pages = pages_a_thread / 2; ring.head == nullptr && data_pages > 0;
       data_pages /= 2) {
    if (errno != ENOMEM) return false;
    ring = Ring(std::move(ring.event), data_pages, thread);
  }
  if (ring.head == nullptr) return false;
  rings_.push_back(std::move(ring));
  return true;
}

bool PageFaults::is_watching(pid_t thread) const {
  return std::any_of(rings_.begin(), rings_.end(),
                     [thread](const Ring& ring) { return ring.thread == thread; });
}

void PageFaults::keep_threads(const std::map<pid_t, int>& alive) {
  std::erase_if(rings_, [&alive](const Ring& ring) { return !alive.contains(ring.thread); });
}

void PageFaults::drain(std::vector<PageFault>& faults) {
  const auto old = static_cast<std::ptrdiff_t>(faults.size());
  for (Ring& ring : rings_) drain(ring, faults);
  if (bpf_) bpf_->drain(faults);
  std::stable_sort(faults.begin() + old, faults.end(),
                   [](const PageFault& a, const PageFault& b) { return a.time_ns < b.time_ns; });
}

void PageFaults::drain(Ring& ring, std::vector<PageFault>& faults) {
  const auto* const data = reinterpret_cast<const char*>(ring.head) + ring.head->data_offset;
  const std::uint64_t size = ring.head->data_size;
  // Pairs with the kernel's store: records are published by data_head and released by data_tail.
  const std::uint64_t end = std::atomic_ref(ring.head->data_head).load(std::memory_order_acquire);
  std::uint64_t at = ring.head->data_tail;
  const auto copy_out = [&](void* to, std::size_t bytes) {  // a record may wrap around
    const std::size_t first = std::min<std::size_t>(bytes, size - at % size);
    std::memcpy(to, data + at % size, first);
    std::memcpy(static_cast<char*>(to) + first, data, bytes - first);
  };
  while (at < end) {
    perf_event_header header;
    copy_out(&header, sizeof header);
    if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof(FaultSample)) {
      FaultSample sample;
      copy_out(&sample, sizeof sample);
      faults.push_back({sample.time_ns, sample.address, static_cast<pid_t>(sample.process),
                        static_cast<pid_t>(sample.thread)});
    } else if (header.type == PERF_RECORD_FORK && header.size >= sizeof(Fork)) {
      Fork fork;
      copy_out(&fork, sizeof fork);
      births_.push_back({static_cast<pid_t>(fork.process), static_cast<pid_t>(fork.thread),
                         static_cast<pid_t>(fork.parent_thread)});
    } else if (header.type == PERF_RECORD_LOST && header.size >= sizeof(Lost)) {
      Lost lost;
      copy_out(&lost, sizeof lost);
      lost_ += lost.count;
    }
    at += header.size;
  }
  std::atomic_ref(ring.head->data_tail).store(at, std::memory_order_release);
}

namespace {

constexpr std::size_t pages = 256;

// Memory of this process in which faults are induced.
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
  // Returns the CPU time of one write to each page, with other work in between as in a program: a
  // fault right after another one finds the kernel's data in the cache and takes half the time.
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

// Returns the soft-dirty bit of the page at `address`; nothing if it cannot be read.
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
    const int why = errno;
    return {.why_not = fmt::format("the kernel refuses the event ({}){}", std::strerror(why),
                                   why == ENOMEM ? memory_remedy : "")};
  }
  Ground ground;
  ground.write_s();
  // A ring may not have room for all faults.
  if (seen_in(ground.range(), faults) < pages / 2) return {.why_not = "faults are not reported"};
  return {.works = true};
} catch (const Error& error) {
  return {.why_not = error.what()};
}

Trial try_protection() {
  FileDescriptor userfaultfd = open_userfaultfd();
  if (!userfaultfd.is_open()) {
    return {.why_not = fmt::format(
                "userfaultfd cannot protect pages without a handler ({}), which requires Linux 6.7",
                std::strerror(errno))};
  }
  Ground ground;
  ground.write_s();
  Protection protection(::getpid(), std::move(userfaultfd));
  protection.watch_only(ground.range());
  // Observes the faults as well, because an observed fault takes longer.
  PageFaults faults;
  faults.add_thread(::gettid());
  // Uses the maximum of several runs, so that the cost is not underestimated.
  constexpr int times = 5;
  double most_s = 0;
  protection.rearm(static_cast<int>(pages));
  for (int i = 0; i < times; ++i) {
    const double protected_s = ground.write_s();
    const double plain_s = ground.write_s();
    most_s = std::max(most_s, protected_s - plain_s);
    if (protection.rearm(static_cast<int>(pages)) != static_cast<int>(pages)) {
      return {.why_not = "protected pages were written to, but the kernel did not report which"};
    }
  }
  return {.works = true, .fault_s = most_s / static_cast<double>(pages)};
}

}  // namespace huddle::threads
