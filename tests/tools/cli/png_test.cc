// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests PNG pictures, which rsvg-convert writes. Errors are tested with scripts in its place.
#include "tools/cli/topo/topo_report.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "../../common/scratch.h"
#include "common/error.h"
#include "program.h"
#include "tools/launch/program.h"

namespace huddle::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string small_svg =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30pt\" height=\"20pt\" "
    "viewBox=\"0 0 30 20\"><rect width=\"30\" height=\"20\" fill=\"#ff0000\"/></svg>\n";

// Sets a variable of this process until the end of a test.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

bool has_converter() {
  const char* const path = std::getenv("PATH");
  return path != nullptr && launch::find_program("rsvg-convert", path).has_value();
}

// Returns a big-endian number of a PNG's header.
unsigned number_at(const std::string& png, std::size_t at) {
  unsigned number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8U | static_cast<unsigned char>(png.at(i));
  }
  return number;
}

class Png : public testing::Test {
 protected:
  Png() { fs::create_directory(scratch_.path("tmp")); }

  // Puts a program called rsvg-convert on an otherwise empty PATH.
  void stand_in(const std::string& script) {
    const std::string path = scratch_.write("bin/rsvg-convert", "#!/bin/sh\n" + script);
    fs::permissions(path, fs::perms::owner_all);
  }

  std::string message() {
    const Variable path("PATH", scratch_.path("bin"));
    try {
      png_from(small_svg);
    } catch (const FailureError& error) {
      return error.what();
    }
    return "no error";
  }

  test::Scratch scratch_;
  Variable temporary_{"TMPDIR", scratch_.path("tmp")};
};

TEST_F(Png, HasTwoPixelsPerPoint) {
  if (!has_converter()) GTEST_SKIP() << "rsvg-convert (librsvg2-bin) is not on PATH";
  const std::string png = png_from(small_svg);
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n"));
  EXPECT_EQ(number_at(png, 16), 60U);
  EXPECT_EQ(number_at(png, 20), 40U);
  EXPECT_TRUE(fs::is_empty(scratch_.path("tmp")));
}

TEST_F(Png, MissingConverterIsReportedWithARemedy) {
  EXPECT_EQ(message(),
            "--png requires rsvg-convert, which is not in PATH: install it (Debian: librsvg2-bin), "
            "or write an SVG with --svg instead");
}

TEST_F(Png, FailureOfTheConverterIsQuoted) {
  stand_in("echo 'no memory left'; exit 1");
  EXPECT_EQ(message(), scratch_.path("bin/rsvg-convert") +
                           " wrote no PNG (no memory left); write an SVG with --svg instead");
  EXPECT_TRUE(fs::is_empty(scratch_.path("tmp")));
}

TEST_F(Png, IncompleteFileIsAFailure) {
  stand_in("while [ \"$1\" != --output ]; do shift; done; printf '\\211PNG\\r\\n' >\"$2\"");
  EXPECT_THAT(message(), HasSubstr("wrote no PNG (it printed no reason)"));
}

TEST_F(Png, UnusableTemporaryFolderIsAFailure) {
  stand_in("exit 0");
  const Variable temporary("TMPDIR", scratch_.path("not/there"));
  EXPECT_THAT(message(), HasSubstr("set TMPDIR to a folder that you may write to"));
}

TEST_F(Png, NoFileIsLeftWithoutAConverter) {
  const std::string svg = scratch_.path("a.svg");
  const std::string png = scratch_.path("a.png");
  const Variable path("PATH", scratch_.path("bin"));
  const Ran ran = Program().run({"topo", "--synthetic", "core:2 pu:1", "--svg", svg, "--png", png});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("librsvg2-bin"), HasSubstr("--svg")));
  EXPECT_FALSE(fs::exists(svg));
  EXPECT_FALSE(fs::exists(png));
}

TEST_F(Png, HelpNamesThePackage) {
  EXPECT_THAT(Program().run({"topo", "--help"}).out,
              AllOf(HasSubstr("rsvg-convert"), HasSubstr("librsvg2-bin")));
}

TEST_F(Png, TopoWritesBothFiles) {
  if (!has_converter()) GTEST_SKIP() << "rsvg-convert (librsvg2-bin) is not on PATH";
  const std::string svg = scratch_.path("a.svg");
  const std::string png = scratch_.path("a.png");
  const Ran ran = Program().run({"topo", "--synthetic", "core:2 pu:1", "--svg", svg, "--png", png});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(fs::exists(svg));
  EXPECT_GT(fs::file_size(png), 1000U);
}

}  // namespace
}  // namespace huddle::cli
