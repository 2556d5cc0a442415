// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/state_folder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "../../common/scratch.h"
#include "common/error.h"

namespace huddle::threads {
namespace {

TEST(StateFolder, LockTimesOut) {
  const test::Scratch scratch;
  const StateFolder folder(scratch.path("state"));
  std::optional<StateFolder::Lock> lock(folder.lock());
  EXPECT_FALSE(folder.try_lock());
  try {
    folder.lock(std::chrono::milliseconds(1));
    FAIL() << "it is locked";
  } catch (const FailureError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("fuser -v " + folder.path()));
  }
  lock.reset();
  EXPECT_TRUE(folder.try_lock());
}

TEST(StateFolder, RejectsDanglingLink) {
  const test::Scratch scratch;
  std::filesystem::create_symlink(scratch.path("nowhere"), scratch.path("state"));
  EXPECT_THROW(StateFolder(scratch.path("state")).lock(), FailureError);
}

// With a limit on the file size, a line is written partially. Uses a separate process for it.
TEST(StateFile, AppendsWholeLinesOnly) {
  const test::Scratch scratch;
  const StateFolder folder(scratch.path("state"));
  ASSERT_EQ(::mkdir(folder.path().c_str(), S_IRWXU), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    StateFile file(folder, own_identity());
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = text_in(file.descriptor()).size() + std::string("program 1").size();
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool first = file.add("program 11 7\n");
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool second = file.add("program 22 7\n");
    const SavedState kept = read_kept_state(text_in(file.descriptor()));
    file.remove();
    const bool is_whole = kept.programs.size() == 1 && kept.programs.contains(22);
    ::_exit(!first && second && is_whole ? 0 : 1);
  }
  int status = -1;
  ::waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace huddle::threads
