// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An example of a new path into a peer's memory: /proc/PID/mem, a file in which the offset is the
// address. The file is opened once per peer. It keeps referring to that process, even if another
// process gets the same PID later.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "common/file.h"
#include "common/other_processes.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::example {

class ProcMemory : public single_copy::PeerMemory {
 public:
  explicit ProcMemory(const single_copy::Owner& owner) {
    const std::string path = fmt::format("/proc/{}/mem", owner.process);
    file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file_.is_open()) trouble_ = errno;
    // A process that still has its PID now had it when the file was opened.
    if (has_lost_number(owner.watch)) trouble_ = ESRCH;
  }

  [[nodiscard]] single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                              std::size_t bytes) noexcept override {
    return copy(bytes, [&](std::size_t done) {
      return ::pread(file_.number(), to + done, bytes - done, at(from, done));
    });
  }
  [[nodiscard]] single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                               std::size_t bytes) noexcept override {
    return copy(bytes, [&](std::size_t done) {
      return ::pwrite(file_.number(), from + done, bytes - done, at(to, done));
    });
  }

 private:
  static off_t at(single_copy::RemoteAddress told, std::size_t done) {
    return static_cast<off_t>(single_copy::address_of(told) + done);
  }
  // Repeats call(done), which copies more and returns how much, until `bytes` bytes are done.
  template <class SystemCall>
  single_copy::ErrorNumber copy(std::size_t bytes, SystemCall call) const noexcept {
    if (trouble_ != single_copy::fine) return trouble_;
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t copied = call(done);
      if (copied < 0 && errno == EINTR) continue;
      if (copied < 0) return errno;
      if (copied == 0) return ESRCH;  // the process has exited
      done += static_cast<std::size_t>(copied);
    }
    return single_copy::fine;
  }

  FileDescriptor file_;
  single_copy::ErrorNumber trouble_ = single_copy::fine;
};

// Returns the entry for the table of paths in runtime/single_copy/peer_memory.cc.
inline single_copy::PeerPath proc_mem() {
  return {"proc_mem", "pread of /proc/PID/mem",
          "processes that may trace each other, and a /proc that shows them",
          [](const single_copy::Owner& owner) { return std::make_unique<ProcMemory>(owner); }};
}

}  // namespace huddle::example
