// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads and writes another process's memory, with interruptions, partial copies and dying peers.
#include "runtime/single_copy/cma.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "common/file.h"

namespace huddle::single_copy {
namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

const std::byte* bytes_of(const std::vector<unsigned char>& data) {
  return reinterpret_cast<const std::byte*>(data.data());
}

// A sleeping child with a copy of the parent's memory.
class Child {
 public:
  Child() : process_(fork()) {
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    watch_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }
  int watch() const { return watch_.number(); }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_;
  FileDescriptor watch_;
};

std::vector<unsigned char> numbered(std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 251);
  return data;
}

TEST(Cma, ReadsAnotherProcess) {
  auto data = numbered(3'000'001);
  const auto wanted = data;
  Child child;
  std::fill(data.begin(), data.end(), 0);
  std::vector<std::byte> got(data.size());
  CmaMemory memory(child.process(), child.watch());
  ASSERT_EQ(memory.read(got.data(), address_of(data.data()), got.size()), fine);
  EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size()), 0);
  EXPECT_EQ(memory.read(got.data(), 8, 0), fine);
}

TEST(Cma, WritesToAnotherProcess) {
  std::vector<unsigned char> data(3'000'001);
  Child child;
  CmaMemory memory(child.process(), child.watch());
  const auto sent = numbered(data.size());
  ASSERT_EQ(memory.write(address_of(data.data()), bytes_of(sent), sent.size()), fine);
  std::vector<std::byte> got(data.size());
  ASSERT_EQ(memory.read(got.data(), address_of(data.data()), got.size()), fine);
  EXPECT_EQ(std::memcmp(got.data(), sent.data(), got.size()), 0);
  EXPECT_THAT(data, testing::Each(0)) << "this process's own";
}

TEST(Cma, ReportsWhyAccessIsRefused) {
  std::uint64_t word = 17;
  Child child;
  CmaMemory memory(child.process(), child.watch());
  std::vector<std::byte> got(sizeof word);
  EXPECT_EQ(memory.read(got.data(), 16, got.size()), EFAULT);
  EXPECT_EQ(memory.write(16, got.data(), got.size()), EFAULT);
  child.end();
  EXPECT_EQ(memory.read(got.data(), address_of(&word), got.size()), ESRCH);
  EXPECT_EQ(memory.write(address_of(&word), got.data(), got.size()), ESRCH);
  const Proof proof{address_of(&word), word};
  EXPECT_THAT(reading_refusal(memory, proof), testing::HasSubstr("No such process"));
  EXPECT_THAT(writing_refusal(memory, proof), testing::HasSubstr("No such process"));
}

TEST(Cma, ReadTestComparesAWord) {
  volatile std::uint64_t word = 0x1234;
  Child child;
  CmaMemory memory(child.process(), child.watch());
  const std::uint64_t at = address_of(const_cast<std::uint64_t*>(&word));
  EXPECT_EQ(reading_refusal(memory, {at, 0x1234}), "");
  EXPECT_THAT(reading_refusal(memory, {at, 0x4321}),
              testing::HasSubstr("not what the process shows"));
  EXPECT_EQ(writing_refusal(memory, {at, 0x4321}), "");
  EXPECT_EQ(reading_refusal(memory, {at, 0x4321}), "");
}

// A path that ignores writes.
TEST(Cma, WriteTestReadsBack) {
  class Forgetful : public CmaMemory {
   public:
    Forgetful() : CmaMemory(getpid(), unwatched) {}
    ErrorNumber write(RemoteAddress, const std::byte*, std::size_t) noexcept override {
      return fine;
    }
  };
  Forgetful memory;
  std::uint64_t word = 0x1234;
  EXPECT_THAT(writing_refusal(memory, {address_of(&word), 0x4321}),
              testing::HasSubstr("not what the process shows"));
}

// A scripted system call, which may copy only a part.
struct Call {
  std::uint64_t local;
  std::uint64_t remote;
  std::size_t bytes;
  bool operator==(const Call&) const = default;
};
void PrintTo(const Call& call, std::ostream* out) {
  *out << call.local << " and " << call.remote << ", " << call.bytes;
}
struct Answer {
  ssize_t came;
  int error = 0;
  // A peer that dies during this call, or null.
  Child* dies = nullptr;
};
// Global because a replaced system call has no context argument.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local std::vector<Call> calls;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local std::vector<Answer> answers;

ssize_t scripted(pid_t, const iovec* local, unsigned long, const iovec* remote, unsigned long,
                 unsigned long) {
  calls.push_back({address_of(local->iov_base), address_of(remote->iov_base), local->iov_len});
  const Answer answer = answers.front();
  answers.erase(answers.begin());
  if (answer.dies != nullptr) answer.dies->end();
  errno = answer.error;
  return answer.came;
}

ssize_t not_called(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long) {
  ADD_FAILURE() << "the wrong way";
  return 0;
}

// Reads and writes handle partial copies and errors alike.
enum class Way { read, write };
class CmaCalls : public testing::TestWithParam<Way> {
 protected:
  static ErrorNumber copy(std::size_t bytes, std::vector<Answer> script, int watch = unwatched) {
    calls.clear();
    answers = std::move(script);
    auto* const here = reinterpret_cast<std::byte*>(4096);
    if (GetParam() == Way::read)
      return CmaMemory(1, watch, {scripted, not_called}).read(here, 8192, bytes);
    return CmaMemory(1, watch, {not_called, scripted}).write(8192, here, bytes);
  }
};

constexpr std::size_t most = CmaMemory::most_at_once;

// Copies more than 2 GiB, without the memory for it.
TEST_P(CmaCalls, ContinueAfterPartialCopy) {
  EXPECT_EQ(copy(most + 10, {{static_cast<ssize_t>(most)}, {10}}), fine);
  EXPECT_THAT(calls,
              testing::ElementsAre(Call{4096, 8192, most}, Call{4096 + most, 8192 + most, 10}));
  EXPECT_EQ(copy(100, {{-1, EINTR}, {60}, {40}}), fine);
  EXPECT_THAT(calls, testing::ElementsAre(Call{4096, 8192, 100}, Call{4096, 8192, 100},
                                          Call{4096 + 60, 8192 + 60, 40}));
}

TEST_P(CmaCalls, ReturnSystemError) {
  EXPECT_EQ(copy(100, {{60}, {-1, EFAULT}}), EFAULT);
  EXPECT_EQ(copy(100, {{0}}), EFAULT);
  EXPECT_EQ(copy(100, {{-1, EPERM}}), EPERM);
}

// The process ID may have been reused by a process with memory at that address.
TEST_P(CmaCalls, FailIfProcessIdMayBeReused) {
  Child peer;
  EXPECT_EQ(copy(100, {{100}}, peer.watch()), fine);
  peer.end();
  EXPECT_EQ(copy(100, {{100}}, peer.watch()), ESRCH);
  // A read may reach the new process, but it must return an error.
  EXPECT_EQ(calls.size(), GetParam() == Way::read ? 1U : 0U);
}

TEST_P(CmaCalls, FailIfPeerDiesDuringCopy) {
  Child peer;
  EXPECT_EQ(copy(100, {{60, 0, &peer}, {40}}, peer.watch()), ESRCH);
  EXPECT_EQ(calls.size(), GetParam() == Way::read ? 2U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Ways, CmaCalls, testing::Values(Way::read, Way::write),
                         [](const auto& way) { return way.param == Way::read ? "Read" : "Write"; });

}  // namespace
}  // namespace huddle::single_copy
