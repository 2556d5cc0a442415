// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "common/arithmetic.h"
#include "common/calling_thread.h"
#include "common/error.h"
#include "common/text.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {

ArenaId ArenaId::random() {
  ArenaId id;
  if (getrandom(id.words.data(), sizeof(id.words), 0) == sizeof(id.words)) return id;
  throw FailureError(fmt::format(
      "cannot read random numbers from the kernel (getrandom): {}; allow this system call in "
      "the container or sandbox",
      std::strerror(errno)));
}

ArenaView::ArenaView(int descriptor, std::size_t cap_bytes)
    : cap_bytes_(cap_bytes), process_(getpid()) {
  void* mapped =
      mmap(nullptr, cap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (mapped == MAP_FAILED) {
    // EAGAIN: the process has called mlockall(), and may not lock that much memory.
    throw FailureError(
        fmt::format("cannot reserve {} of address space for shared memory: {}; raise the limit "
                    "`ulimit -{}`",
                    size_text(static_cast<double>(cap_bytes)), std::strerror(errno),
                    errno == EAGAIN ? 'l' : 'v'));
  }
  base_ = static_cast<std::byte*>(mapped);
  madvise(base_, cap_bytes, MADV_DONTFORK);
  madvise(base_, cap_bytes, MADV_DONTDUMP);
}

ArenaView::ArenaView(ArenaView&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      cap_bytes_(std::exchange(other.cap_bytes_, 0)),
      process_(other.process_) {}

ArenaView& ArenaView::operator=(ArenaView&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(cap_bytes_, other.cap_bytes_);
  std::swap(process_, other.process_);
  return *this;
}

ArenaView::~ArenaView() {
  if (base_ != nullptr && process_ == getpid()) munmap(base_, cap_bytes_);
}

bool is_arena(int descriptor, const ArenaId& id, std::size_t cap_bytes) {
  ArenaHeader header;
  if (pread(descriptor, &header, sizeof header, 0) != sizeof header) return false;
  return header.magic == ArenaHeader::expected_magic && header.id == id &&
         header.cap_bytes == cap_bytes;
}

namespace {

// Memory is reserved in steps of this size. Signals are blocked during a step, for a few
// milliseconds.
constexpr std::size_t step_bytes = std::size_t{8} << 20;

#ifndef MFD_NOEXEC_SEAL
constexpr unsigned int MFD_NOEXEC_SEAL = 8;
#endif

// Systems may require a non-executable memfd (vm.memfd_noexec); kernels before 6.3 lack the flag.
FileDescriptor make_memfd() {
  FileDescriptor file(memfd_create("huddle", MFD_CLOEXEC | MFD_NOEXEC_SEAL));
  if (!file.is_open() && errno == EINVAL)
    file = FileDescriptor(memfd_create("huddle", MFD_CLOEXEC));
  return above_standard_streams(std::move(file));
}

FileDescriptor make_file_in(const std::string& folder) {
  FileDescriptor file = above_standard_streams(
      FileDescriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)));
  if (file.is_open()) return file;
  throw FailureError(fmt::format(
      "cannot create a shared memory file in {}: {}; use a folder that supports O_TMPFILE and that "
      "you may write to",
      folder, std::strerror(errno)));
}

// Returns all zeros if the descriptor is not open.
struct stat status_of(int file) {
  struct stat status {};
  fstat(file, &status);
  return status;
}

// Throws FailureError if the limit on file sizes forbids `bytes`.
void check_file_size_limit(std::size_t bytes) {
  if (!exceeds_file_size_limit(bytes)) return;
  throw FailureError(fmt::format(
      "{} of shared memory exceed the limit on file sizes of this process; raise it with "
      "`ulimit -f`",
      size_text(static_cast<double>(bytes))));
}

// Returns an errno value. Blocks signals, because a signal makes posix_fallocate() fail and undo
// its work; with a frequent timer signal it would never finish.
int reserve_uninterrupted(int file, Piece pages) {
  const WithoutSignals without_signals;
  int error = EINTR;
  while (error == EINTR) {
    error =
        posix_fallocate(file, static_cast<off_t>(pages.offset), static_cast<off_t>(pages.bytes));
  }
  return error;
}

}  // namespace

ArenaFile::ArenaFile(Kind kind, const std::string& folder) {
  if (kind != Kind::in_folder) descriptor_ = make_memfd();
  if (!descriptor_.is_open() && kind == Kind::memfd) {
    throw FailureError(fmt::format(
        "cannot create shared memory (memfd_create): {}; allow this system call, or free memory "
        "or file descriptors",
        std::strerror(errno)));
  }
  if (!descriptor_.is_open()) {
    place_ = folder;
    descriptor_ = make_file_in(folder);
  }
  const struct stat status = status_of(descriptor());
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool ArenaFile::is_there() const {
  const struct stat status = status_of(descriptor());
  return status.st_dev == device_ && status.st_ino == inode_;
}

void ArenaFile::close() {
  if (!is_there()) descriptor_.release();
  descriptor_ = FileDescriptor();
}

std::size_t ArenaFile::extend(std::size_t bytes) const {
  check_file_size_limit(bytes);
  if (ftruncate(descriptor(), static_cast<off_t>(bytes)) == 0) return bytes;
  throw FailureError(
      fmt::format("cannot extend shared memory to {1} in {0}: {2}; free memory or disk space there",
                  place_, size_text(static_cast<double>(bytes)), std::strerror(errno)));
}

std::size_t ArenaFile::memory_bytes() const {
  // st_blocks counts units of 512 bytes on every file system.
  return static_cast<std::size_t>(status_of(descriptor()).st_blocks) * 512;
}

void ArenaFile::reserve(Piece pages) const {
  if (!is_there()) {
    throw FailureError(
        "the program has closed the file descriptor of huddle's shared memory; do not close "
        "descriptors that the program did not open");
  }
  const std::string size = size_text(static_cast<double>(pages.bytes));
  check_file_size_limit(pages.end());
  for (std::size_t done = 0; done < pages.bytes; done += step_bytes) {
    const Piece step{pages.offset + done, std::min(step_bytes, pages.bytes - done)};
    const int error = reserve_uninterrupted(descriptor(), step);
    if (error == 0) continue;
    return_to_system({pages.offset, done});
    throw FailureError(fmt::format(
        "cannot reserve {1} of shared memory in {0}: {2}; free memory, or raise the memory limit "
        "of the job",
        place_, size, std::strerror(error)));
  }
}

void ArenaFile::return_to_system(Piece pages) const {
  if (pages.bytes == 0 || !is_there()) return;
  fallocate(descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(pages.offset), static_cast<off_t>(pages.bytes));
}

namespace {

using Backing = ArenaSpace::Backing;

// Minimum amount that is requested from the kernel, so that small teams rarely need a system call.
constexpr std::size_t growth_bytes = std::size_t{64} << 10;
// Free memory that is kept for later teams. Beyond it, free parts of at least least_returned_bytes
// are returned to the system; smaller ones are not worth a system call.
constexpr std::size_t most_kept_bytes = std::size_t{8} << 20;
constexpr std::size_t least_returned_bytes = std::size_t{256} << 10;

std::size_t arena_cap(std::size_t cap_bytes) {
  if (cap_bytes >= page_bytes()) return round_down(cap_bytes, page_bytes());
  throw InputError(fmt::format(
      "the limit of the shared memory is {} bytes, but at least one page ({} bytes) is required; "
      "raise cap_bytes of huddle_settings",
      cap_bytes, page_bytes()));
}

}  // namespace

Arena::Arena(const ArenaOptions& options)
    : file_(options.kind, options.folder),
      view_(file_.descriptor(), arena_cap(options.cap_bytes)),
      id_(ArenaId::random()) {
  space_.give(Backing::none, {0, cap_bytes()});
  const Piece first = take_pages(page_bytes(), page_bytes());
  new (base()) ArenaHeader{ArenaHeader::expected_magic, cap_bytes(), id_};
  space_.give(Backing::memory, {arena_header_bytes, first.bytes - arena_header_bytes});
}

Piece Arena::allocate(std::size_t bytes, std::size_t alignment) {
  const std::scoped_lock lock(mutex_);
  if (bytes > cap_bytes()) bytes = cap_bytes();  // fails below, but without overflow
  bytes = round_up(std::max<std::size_t>(bytes, 1), least_alignment);
  alignment = std::max(alignment, least_alignment);
  if (const auto piece = space_.take(Backing::memory, bytes, alignment)) return *piece;
  const Piece pages = take_pages(round_up(bytes, page_bytes()), std::max(alignment, page_bytes()));
  try {
    if (pages.bytes > bytes) {
      space_.give(Backing::memory, {pages.offset + bytes, pages.bytes - bytes});
    }
  } catch (...) {
    unreserve(pages);
    space_.give(Backing::none, pages);
    throw;
  }
  return {pages.offset, bytes};
}

// Reserves new memory, more than requested if there is space.
Piece Arena::take_pages(std::size_t bytes, std::size_t alignment) {
  auto pages = space_.take(Backing::none, std::max(bytes, growth_bytes), alignment);
  if (!pages) pages = space_.take(Backing::none, bytes, alignment);
  if (!pages) {
    // Parts with memory may lie between parts without memory. Returning it merges all of them.
    for (const Piece part : space_.parts(Backing::memory)) return_pages_of(part);
    pages = space_.take(Backing::none, bytes, alignment);
  }
  if (!pages) {
    throw FailureError(fmt::format(
        "the shared memory of this process is limited to {}, of which no {} are free; "
        "free teams and buffers, or raise cap_bytes of huddle_settings",
        size_text(static_cast<double>(cap_bytes())), size_text(static_cast<double>(bytes))));
  }
  try {
    reserve(*pages);
  } catch (...) {
    space_.give(Backing::none, *pages);
    throw;
  }
  return *pages;
}

// If there is no memory to record the free part, the piece is leaked: callers often free memory
// while they handle another error.
void Arena::free(Piece piece) {
  if (piece.bytes == 0) return;
  const std::scoped_lock lock(mutex_);
  try {
    const Piece part = space_.give(Backing::memory, piece);
    if (part.bytes >= least_returned_bytes &&
        space_.free_bytes(Backing::memory) > most_kept_bytes) {
      return_pages_of(part);
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

// Requires: the part is free and has memory.
void Arena::return_pages_of(Piece part) {
  const Piece pages = whole_pages_of(part);
  if (pages.bytes == 0 || !file_.is_there()) return;
  space_.take_exactly(Backing::memory, pages);
  unreserve(pages);
  space_.give(Backing::none, pages);
}

void Arena::reserve(Piece pages) {
  file_.reserve(pages);
  reserved_bytes_ += pages.bytes;
}

void Arena::unreserve(Piece pages) {
  file_.return_to_system(pages);
  reserved_bytes_ -= pages.bytes;
}

std::size_t Arena::used_bytes() const {
  const std::scoped_lock lock(mutex_);
  return reserved_bytes_ - space_.free_bytes(Backing::memory) - arena_header_bytes;
}

std::size_t Arena::reserved_bytes() const {
  const std::scoped_lock lock(mutex_);
  return reserved_bytes_;
}

}  // namespace huddle::memory
