// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A path into a peer's memory as it would come into being: through /proc/PID/mem, a file in which
// everything lies at its address. A file is opened once for each peer, and stays that process's
// even where its number is given to another one.
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
    // Whoever has the number now had it when the file was opened.
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
  // Calls call(done), which copies some more, until all is there.
  template <class SystemCall>
  single_copy::ErrorNumber copy(std::size_t bytes, SystemCall call) const noexcept {
    if (trouble_ != single_copy::fine) return trouble_;
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t copied = call(done);
      if (copied < 0 && errno == EINTR) continue;
      if (copied < 0) return errno;
      if (copied == 0) return ESRCH;  // the file of a process that is gone
      done += static_cast<std::size_t>(copied);
    }
    return single_copy::fine;
  }

  FileDescriptor file_;
  single_copy::ErrorNumber trouble_ = single_copy::fine;
};

// Its line in the table of paths (runtime/single_copy/peer_memory.cc).
inline single_copy::PeerPath proc_mem() {
  return {"proc_mem", "pread of /proc/PID/mem",
          "processes that may trace each other, and a /proc that shows them",
          [](const single_copy::Owner& owner) { return std::make_unique<ProcMemory>(owner); }};
}

}  // namespace huddle::example
