// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/gated_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/exec_words.h"

namespace huddle::threads {
namespace {

std::array<FileDescriptor, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("no pipe: {}", std::strerror(errno)));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

GatedStart::GatedStart(const std::string& file, std::vector<std::string> words,
                       std::vector<std::string> environment, const sigset_t& mask)
    : file_(file) {
  auto [gate_out, gate_in] = make_pipe();
  auto [report_out, report_in] = make_pipe();
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(environment);
  process_ = ::fork();
  if (process_ < 0) {
    throw FailureError(fmt::format("no further process: {}", std::strerror(errno)));
  }
  if (process_ == 0) {
    char go = 0;
    ::close(gate_in.number());
    if (::read(gate_out.number(), &go, 1) != 1) ::_exit(0);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execvpe(file_.c_str(), argv.data(), envp.data());
    const int why = errno;
    (void)!::write(report_in.number(), &why, sizeof why);
    ::_exit(127);
  }
  gate_ = std::move(gate_in);
  report_ = std::move(report_out);
}

GatedStart::~GatedStart() {
  if (!gate_.is_open()) return;
  gate_ = FileDescriptor();
  ::waitpid(process_, nullptr, 0);
}

void GatedStart::go() {
  (void)!::write(gate_.number(), "g", 1);
  gate_ = FileDescriptor();
  int why = 0;
  if (::read(report_.number(), &why, sizeof why) != sizeof why) return;
  ::waitpid(process_, nullptr, 0);
  throw FailureError(fmt::format("{} cannot be executed: {}", file_, std::strerror(why)));
}

}  // namespace huddle::threads
