// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/front_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "../../common/scratch.h"
#include "common/error.h"

namespace huddle::launch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

class FrontEndTest : public testing::Test {
 protected:
  // Creates a folder with a python3 that prints this.
  std::string folder_of_python(const std::string& name, const std::string& says) {
    const std::string file = files_.write(name + "/python3", "#!/bin/sh\necho '" + says + "'\n");
    fs::permissions(file, fs::perms::owner_all);
    return fs::path(file).parent_path().string();
  }
  // Creates an installed huddle with its front end.
  std::string installed() {
    files_.write("share/huddle/python/huddle/report.py", "");
    return files_.write("bin/huddle", "");
  }
  static auto refusal(const std::string& search_path) {
    return [search_path] { find_front_end("/nowhere/bin/huddle", search_path); };
  }

  test::Scratch files_;
};

TEST_F(FrontEndTest, UsesTheFirstPythonWithAllModules) {
  const std::string poor = folder_of_python("poor", "huddle-misses: matplotlib");
  const std::string mute = folder_of_python("mute", "hello");
  const std::string rich = folder_of_python("rich", "what a day. huddle-misses:");
  const std::string other = folder_of_python("other", "huddle-misses:");
  const FrontEnd found = find_front_end(
      installed(), std::string("/nowhere::").append(poor + ":" + mute + ":" + rich + ":" + other));
  EXPECT_EQ(found.python, rich + "/python3");
  EXPECT_TRUE(fs::exists(found.folder + "/huddle/report.py")) << found.folder;
}

TEST_F(FrontEndTest, PythonSearchesItselfIfNothingIsInstalled) {
  const std::string rich = folder_of_python("rich", "huddle-misses:");
  EXPECT_EQ(find_front_end("/nowhere/bin/huddle", rich).folder, "");
}

TEST_F(FrontEndTest, NamesTheMissingPackages) {
  EXPECT_THAT(refusal("/nowhere"),
              ThrowsMessage<FailureError>(AllOf(HasSubstr("python3 is not in PATH"),
                                                HasSubstr("apt install python3-matplotlib"))));
  const std::string poor = folder_of_python("poor", "huddle-misses: matplotlib");
  EXPECT_THAT(refusal(poor), ThrowsMessage<FailureError>(
                                 HasSubstr(poor + "/python3 -m pip install matplotlib\n")));
  const std::string bare = folder_of_python("bare", "huddle-misses: matplotlib huddle.report");
  EXPECT_THAT(refusal(bare),
              ThrowsMessage<FailureError>(HasSubstr(bare + "/python3 -m pip install ./python")));
  const std::string old = folder_of_python("old", "huddle-misses: python matplotlib");
  EXPECT_THAT(refusal(old),
              ThrowsMessage<FailureError>(AllOf(HasSubstr("3.9"), Not(HasSubstr("pip install")))));
}

TEST_F(FrontEndTest, CommandKeepsTheArguments) {
  const auto command =
      front_end_command({"/usr/bin/python3", "/opt/p y"}, "huddle.report", {"--", "a 'b'.json"});
  EXPECT_THAT(command,
              ElementsAre("/usr/bin/python3", "-B", "-c", HasSubstr("from huddle.report import"),
                          "/opt/p y", "--", "a 'b'.json"));
}

}  // namespace
}  // namespace huddle::launch
