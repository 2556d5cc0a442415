// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "common/text.h"
#include "common/without_signals.h"

namespace huddle::memory {
namespace {

// Signals are blocked while the kernel works on this much, a few milliseconds.
constexpr std::size_t step_bytes = std::size_t{8} << 20;

#ifndef MFD_NOEXEC_SEAL
constexpr unsigned int MFD_NOEXEC_SEAL = 8;
#endif

// Systems may insist that such files are never executable (vm.memfd_noexec); kernels before 6.3 do
// not know the flag that says so.
FileDescriptor make_memfd() {
  FileDescriptor file(memfd_create("huddle", MFD_CLOEXEC | MFD_NOEXEC_SEAL));
  if (!file.is_open() && errno == EINVAL)
    file = FileDescriptor(memfd_create("huddle", MFD_CLOEXEC));
  return file;
}

FileDescriptor make_file_in(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  throw FailureError(
      fmt::format("cannot make shared memory in {}: {}", folder, std::strerror(errno)));
}

// Zeros where nothing is open.
struct stat status_of(int file) {
  struct stat status {};
  fstat(file, &status);
  return status;
}

// Beyond this size the kernel would not return an error but kill us with SIGXFSZ.
void check_file_size_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (bytes <= limit.rlim_cur) return;
  throw FailureError(
      fmt::format("{} of shared memory exceed the limit on file sizes; raise `ulimit -f`",
                  size_text(static_cast<double>(bytes))));
}

// A signal interrupts the kernel's work and undoes what the call has done so far: under a fast
// timer it would never come to its end.
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
    throw FailureError(fmt::format("cannot make shared memory (memfd): {}", std::strerror(errno)));
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
  throw FailureError(fmt::format("{} has no room for {} of shared memory: {}", place_,
                                 size_text(static_cast<double>(bytes)), std::strerror(errno)));
}

std::size_t ArenaFile::memory_bytes() const {
  // The unit of st_blocks everywhere.
  return static_cast<std::size_t>(status_of(descriptor()).st_blocks) * 512;
}

void ArenaFile::reserve(Piece pages) const {
  if (!is_there()) throw FailureError("the program has closed the descriptor of shared memory");
  const std::string size = size_text(static_cast<double>(pages.bytes));
  check_file_size_limit(pages.end());
  for (std::size_t done = 0; done < pages.bytes; done += step_bytes) {
    const Piece step{pages.offset + done, std::min(step_bytes, pages.bytes - done)};
    const int error = reserve_uninterrupted(descriptor(), step);
    if (error == 0) continue;
    give_back({pages.offset, done});
    throw FailureError(
        fmt::format("{} has no {} of shared memory left: {}", place_, size, std::strerror(error)));
  }
}

void ArenaFile::give_back(Piece pages) const {
  if (pages.bytes == 0 || !is_there()) return;
  fallocate(descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(pages.offset), static_cast<off_t>(pages.bytes));
}

}  // namespace huddle::memory
