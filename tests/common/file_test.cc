// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "common/error.h"

namespace huddle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class File : public testing::Test {
 protected:
  File() {
    std::string pattern = testing::TempDir() + "huddle-file-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~File() override { fs::remove_all(folder_); }
  auto entries() const { return std::distance(fs::directory_iterator(folder_), {}); }
  fs::path folder_;
};

TEST_F(File, ReadsBackWhatWasWritten) {
  const std::string text("any \0 byte", 10);
  write_text(text, folder_ / "a");
  EXPECT_EQ(read_text(folder_ / "a"), text);
  write_text("shorter", folder_ / "a");
  EXPECT_EQ(read_text(folder_ / "a"), "shorter");
  EXPECT_EQ(entries(), 1) << "nothing but the file stays";
}

TEST_F(File, WritingThroughALinkKeepsTheLink) {
  write_text("old", folder_ / "target");
  fs::create_symlink("target", folder_ / "link");
  write_text("new", folder_ / "link");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_text(folder_ / "target"), "new");
}

TEST_F(File, WritesToAndReadsFromAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_text(pipe); });
  write_text("through", pipe);
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(pipe)) << "not replaced by a file";
}

TEST_F(File, ErrorsContainTheReason) {
  EXPECT_THAT([&] { read_text(folder_ / "nothing"); },
              ThrowsMessage<InputError>(HasSubstr("No such file")));
  EXPECT_THAT([&] { read_text(folder_); }, ThrowsMessage<InputError>(HasSubstr("directory")));
  EXPECT_THAT([&] { write_text("", folder_); },
              ThrowsMessage<FailureError>(HasSubstr("directory")));
  write_text("in the way", folder_ / "file");
  EXPECT_THROW(write_text("", folder_ / "file" / "below"), FailureError);
  EXPECT_EQ(entries(), 1);
}

TEST_F(File, WritablePathsAreCheckedWithoutAChange) {
  check_writable(folder_ / "new");
  EXPECT_EQ(entries(), 0);
  write_text("old", folder_ / "file");
  check_writable(folder_ / "file");
  EXPECT_EQ(read_text(folder_ / "file"), "old");
  EXPECT_EQ(entries(), 1);
  check_writable("/dev/null");
  EXPECT_THAT([&] { check_writable(folder_); },
              ThrowsMessage<FailureError>(HasSubstr("directory")));
  EXPECT_THAT([&] { check_writable(folder_ / "file" / "below"); },
              ThrowsMessage<FailureError>(HasSubstr("cannot write")));
}

// Instead of a signal that ends the process.
TEST_F(File, LargerThanTheLimitIsAnError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  std::string reason;
  try {
    write_text("four", folder_ / "file");
  } catch (const FailureError& error) {
    reason = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(reason, HasSubstr("File too large"));
  EXPECT_EQ(entries(), 0);
}

}  // namespace
}  // namespace huddle
