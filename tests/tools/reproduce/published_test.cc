// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/reproduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace huddle::reproduce {
namespace {

using ::testing::HasSubstr;

std::string paper_with(const std::string& figures) {
  return "schema = 1\nname = \"p\"\ntitle = \"t\"\n" + figures;
}

std::string figure(const std::string& rest) {
  return "[[figure]]\nname = \"one\"\nwhere = \"Fig. 1\"\nwhat = \"it\"\n" + rest;
}

std::string error_of(const std::string& text) {
  try {
    parse_paper(text, "p.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Published, FigureIsAValueOrARange) {
  const Paper paper = parse_paper(
      paper_with(figure("kind = \"ratio\"\nfrom = 0.4\nto = 0.8\non = \"m\"\n") +
                 "[[figure]]\nname = \"two\"\nwhere = \"a\"\nwhat = \"b\"\nkind = \"exact\"\n"
                 "value = 3\nunit = \"us\"\n"),
      "p.toml");
  ASSERT_EQ(paper.figures.size(), 2U);
  EXPECT_EQ(paper.figures[0].published, (Span{0.4, 0.8}));
  EXPECT_EQ(paper.figures[0].on, "m");
  EXPECT_EQ(paper.figures[1].published, (Span{3, 3}));
  EXPECT_EQ(paper.figures[1].unit, "us");
}

TEST(Published, RefusesInvalidFiguresWithTheirLine) {
  EXPECT_THAT(error_of(paper_with(figure("kind = \"rato\"\n"))),
              AllOf(HasSubstr("p.toml:8: "), HasSubstr("did you mean 'ratio'")));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"ratio\"\n"))),
              AllOf(HasSubstr("p.toml:4: "), HasSubstr("requires value")));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"ratio\"\nfrom = 2\nto = 1\n"))),
              HasSubstr("'from' is above 'to'"));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"exact\"\nvalue = 0\n"))),
              HasSubstr("must be above 0"));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"direction\"\nvalue = 1\n"))),
              HasSubstr("a direction has no value"));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"not comparable\"\nvalue = 1\n"))),
              HasSubstr("give the reason"));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"ratio\"\nvalue = 1\n"))),
              HasSubstr("a model without differences also agrees"));
  EXPECT_THAT(error_of(paper_with(figure("kind = \"input\"\nvalue = 1\n"))),
              HasSubstr("give the reason"));
  const std::string sound = figure("kind = \"direction\"\n");
  EXPECT_EQ(error_of(paper_with(sound)), "");
  EXPECT_THAT(error_of(paper_with(sound + sound)), HasSubstr("'one' occurs twice"));
  EXPECT_THAT(error_of(paper_with(sound + "wy = \"\"\n")), HasSubstr("did you mean 'why'"));
}

}  // namespace
}  // namespace huddle::reproduce
