// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/heap/preload/process_malloc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/error.h"
#include "common/settings/settings.h"
#include "runtime/heap/start.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::heap {

// Throws FailureError in processes in which large blocks must not come from the heap: those with a
// sanitizer or with a malloc of their own.
void throw_if_unsupported();

namespace {

// A symbol of each sanitizer's runtime, by which it is detected.
constexpr std::array<std::pair<const char*, const char*>, 5> sanitizers = {
    {{"__asan_init", "AddressSanitizer"},
     {"__hwasan_init", "HWAddressSanitizer"},
     {"__lsan_init", "LeakSanitizer"},
     {"__msan_init", "MemorySanitizer"},
     {"__tsan_init", "ThreadSanitizer"}}};

const link_map* library_of(const void* address) {
  Dl_info info{};
  void* library = nullptr;
  return dladdr1(address, &info, &library, RTLD_DL_LINKMAP) == 0
             ? nullptr
             : static_cast<const link_map*>(library);
}

// Returns whether the address is a PLT entry. If a non-PIE executable, such as a common Python
// build, takes a function's address, the address of its PLT entry becomes the function's address in
// all libraries.
bool only_leads_there(const void* address) {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr1(address, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
  return static_cast<const ElfW(Sym)*>(found)->st_shndx == SHN_UNDEF;
}

bool defines_malloc(const link_map& library) {
  void* const opened = dlopen(library.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return false;
  // dlsym also searches the library's dependencies, so the result may lie in another library.
  const void* const found = dlsym(opened, "malloc");
  dlclose(opened);
  return library_of(found) == &library;
}

// Returns the library whose malloc the program calls.
const link_map* library_of_malloc() {
  const void* const told = dlsym(RTLD_DEFAULT, "malloc");
  const link_map* library = library_of(told);
  if (!only_leads_there(told)) return library;
  // The list is in the loader's search order.
  do library = library->l_next;
  while (library != nullptr && !defines_malloc(*library));
  return library;
}

}  // namespace

void throw_if_unsupported() {
  for (const auto& [name, title] : sanitizers) {
    if (dlsym(RTLD_DEFAULT, name) == nullptr) continue;
    throw FailureError(fmt::format(
        "{} must see all allocations, so the program runs without a shared heap; build it "
        "without this sanitizer to use the heap",
        title));
  }
  static const char here = 0;
  if (library_of_malloc() != library_of(&here)) {
    throw FailureError(
        "the program or another preloaded library replaces malloc, so the program runs without a "
        "shared heap; remove that malloc to use the heap");
  }
}

using memory::Heap;

static_assert(std::is_trivially_destructible_v<ProcessMalloc>);
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): malloc is process-wide
constinit ProcessMalloc process_malloc;

namespace {

// A block of at least this size is moved in steps. The heap keeps free memory
// of about this size in any case.
constexpr std::size_t least_bytes_in_steps = std::size_t{64} << 20;
constexpr std::size_t copied_step_bytes = std::size_t{16} << 20;

// Restores errno: the program must not see the errors of the heap's system calls.
class ErrnoKept {
 public:
  ErrnoKept() = default;
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = kept_; }

 private:
  int kept_ = errno;
};

[[noreturn]] void end_of_program(std::string_view sentence) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
  std::abort();
}

}  // namespace

void* ProcessMalloc::take(Large& large, std::size_t bytes, std::size_t alignment,
                          Heap::Content content) noexcept {
  const ErrnoKept kept;
  return large.heap.allocate(bytes, alignment, content);
}

void ProcessMalloc::give(Large& large, void* block) noexcept {
  const ErrnoKept kept;
  if (!large.heap.free(block)) {
    end_of_program(
        "huddle: heap: the program passed free() an address that is not the start of an "
        "allocated block; debug the program with HUDDLE_HEAP=check\n");
  }
}

bool ProcessMalloc::grow(Large& large, void* block, std::size_t bytes) noexcept {
  const ErrnoKept kept;
  return large.heap.grow(block, bytes);
}

bool ProcessMalloc::shrink(Large& large, void* block, std::size_t bytes) noexcept {
  const ErrnoKept kept;
  return large.heap.shrink(block, bytes);
}

bool ProcessMalloc::has_pages(const void* first, std::size_t bytes) const noexcept {
  const Large* const large = large_.load(std::memory_order_acquire);
  if (large == nullptr || bytes == 0 || !large->heap.holds(first)) return false;
  return large->heap.holds(static_cast<const std::byte*>(first) + bytes - 1);
}

bool ProcessMalloc::is_shared() const noexcept {
  const Large* const large = large_.load(std::memory_order_acquire);
  return large != nullptr && large->heap.facts().state->is_shared;
}

bool ProcessMalloc::clear(void* first, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  return large->heap.clear({reinterpret_cast<std::uintptr_t>(first), bytes});
}

void* ProcessMalloc::calloc(std::size_t count, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  std::size_t all = 0;
  if (large != nullptr && !__builtin_mul_overflow(count, bytes, &all) &&
      all >= large->least_bytes) {
    if (void* const block = take(*large, all, 1, Heap::Content::zero)) return block;
  }
  return next_.calloc(count, bytes);
}

void* ProcessMalloc::memalign(std::size_t alignment, std::size_t bytes) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  // An alignment larger than the block is left to the next malloc, which may reject it.
  if (large != nullptr && bytes >= large->least_bytes && alignment <= bytes) {
    if (void* const block = take(*large, bytes, std::bit_ceil(alignment))) return block;
  }
  return next_.memalign(alignment, bytes);
}

std::size_t ProcessMalloc::usable_bytes(void* block) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  if (large != nullptr && large->heap.holds(block)) return large->heap.bytes_of(block);
  return next_.usable_bytes(block);
}

void* ProcessMalloc::realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  Large* const large = large_.load(std::memory_order_acquire);
  if (large == nullptr) return next_.realloc(block, bytes);
  if (large->heap.holds(block)) return move_from_heap(*large, block, bytes);
  return bytes < large->least_bytes ? next_.realloc(block, bytes)
                                    : move_to_heap(*large, block, bytes);
}

// Copies the content of a block that will be freed. Returns the memory of a large block to the
// system behind the copy, so that both blocks together need little more than the new one.
void ProcessMalloc::move_content(Large& large, void* to, void* block, std::size_t bytes) noexcept {
  const ErrnoKept kept;
  const std::size_t step = bytes < least_bytes_in_steps ? bytes : copied_step_bytes;
  for (std::size_t done = 0; done < bytes; done += step) {
    const std::size_t part = std::min(step, bytes - done);
    auto* const from = static_cast<std::byte*>(block) + done;
    std::memcpy(static_cast<std::byte*>(to) + done, from, part);
    const memory::Piece pages =
        memory::whole_pages_of({reinterpret_cast<std::uintptr_t>(from), part});
    if (step < bytes && pages.bytes > 0) large.heap.clear(pages);
  }
}

// Resizes a block of the heap. The block stays in place if it shrinks or the memory behind it is
// free. A block that shrinks to not less than half keeps all its memory.
void* ProcessMalloc::move_from_heap(Large& large, void* block, std::size_t bytes) noexcept {
  const std::size_t room = large.heap.bytes_of(block);
  if (room == 0) {
    end_of_program(
        "huddle: heap: the program passed realloc() an address that is not the start of an "
        "allocated block; debug the program with HUDDLE_HEAP=check\n");
  }
  if (bytes <= room && bytes >= std::max(room / 2, large.least_bytes)) return block;
  if (bytes <= room && bytes >= large.least_bytes && shrink(large, block, bytes)) return block;
  if (bytes > room && grow(large, block, bytes)) return block;
  void* const moved = bytes == 0 ? nullptr : malloc(bytes);
  if (moved == nullptr && bytes > 0) return nullptr;  // the block is unchanged
  if (moved != nullptr) move_content(large, moved, block, std::min(bytes, room));
  give(large, block);
  return moved;
}

// Resizes a block of the next malloc: moves it to the heap if it grows, and leaves it to the next
// realloc if it does not grow or the heap has no memory.
void* ProcessMalloc::move_to_heap(Large& large, void* block, std::size_t bytes) noexcept {
  const std::size_t room = next_.usable_bytes(block);
  void* const moved = bytes <= room ? nullptr : take(large, bytes);
  if (moved == nullptr) return next_.realloc(block, bytes);
  std::memcpy(moved, block, room);
  next_.free(block);
  return moved;
}

const huddle_heap& ProcessMalloc::start(const huddle_heap_request& request) noexcept {
  const ErrnoKept kept;
  const std::scoped_lock lock(starting_);
  // A refusal is final as well, because an earlier caller may still be reading the result.
  if (std::exchange(is_answered_, true)) return told_;
  try {
    open(request);
  } catch (const std::exception& error) {
    std::strncpy(refusal_.data(), error.what(), refusal_.size() - 1);
    told_.refusal = refusal_.data();
  }
  return told_;
}

// Creates the heap. Throws if it cannot be used. The heap never serves blocks smaller than a page,
// because the C library itself uses such blocks during a fork.
void ProcessMalloc::open(const huddle_heap_request& request) {
  throw_if_unsupported();
  const System system;
  memory::check_heap_limits(system);
  const std::size_t copied =
      most_copied_bytes(request.most_copied_bytes, system, memory::machine_bytes());
  auto* const large = new (place_.data()) Large{
      Heap(request.cap_bytes, copied, request.checked ? Heap::Care::checked : Heap::Care::usual),
      std::max(request.least_block_bytes, memory::page_bytes())};
  const memory::HeapFacts facts = large->heap.facts();
  told_ = {.refusal = nullptr,
           .base = facts.base,
           .cap_bytes = facts.cap_bytes,
           .descriptor = facts.descriptor,
           .id = {facts.id.words[0], facts.id.words[1]},
           .state = facts.state};
  large_.store(large, std::memory_order_release);
}

void ProcessMalloc::check_freed() const noexcept {
  if (const Large* const large = large_.load(std::memory_order_acquire)) {
    large->heap.check_freed();
  }
}

void ProcessMalloc::before_fork() noexcept {
  starting_.lock();
  if (Large* const large = large_.load(std::memory_order_relaxed)) large->heap.before_fork();
}

void ProcessMalloc::after_fork_in_parent() noexcept {
  if (Large* const large = large_.load(std::memory_order_relaxed)) {
    large->heap.after_fork_in_parent();
  }
  starting_.unlock();
}

void ProcessMalloc::after_fork_in_child() noexcept {
  if (Large* const large = large_.load(std::memory_order_relaxed)) {
    large->heap.after_fork_in_child();
  }
  starting_.unlock();
}

namespace {

std::string value_of(std::string_view key) {
  const auto table = settings::table();
  const auto setting = std::find_if(table.begin(), table.end(),
                                    [key](const settings::Setting& row) { return row.key == key; });
  const std::string name = settings::environment_name(key);
  const char* const said = std::getenv(name.c_str());
  if (said == nullptr) return std::string(setting->fallback);
  settings::check_value(*setting, said, name);
  return said;
}

}  // namespace

void start_at_once_if_asked() noexcept {
  const char* const asked = std::getenv("TEST_HUDDLE_HEAP");
  if (asked == nullptr || std::string_view(asked) != "at-once") return;
  try {
    const Request request = request_from(value_of);
    const huddle_heap& heap =
        process_malloc.start({version, request.least_block_bytes, request.cap_bytes,
                              request.most_copied_bytes, request.checked});
    if (heap.refusal != nullptr) std::fprintf(stderr, "huddle: heap: %s\n", heap.refusal);
  } catch (const Error& error) {
    std::fprintf(stderr, "huddle: heap: %s\n", error.what());
  }
}

}  // namespace huddle::heap
