// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/manual/manual.h"

#include <gtest/gtest.h>

namespace huddle::manual {
namespace {

TEST(Prose, EscapesRoffSyntax) {
  EXPECT_EQ(prose(R"(a back\slash, the machine's)"), R"(a back\eslash, the machine\(aqs)");
  EXPECT_EQ(prose(".config is a folder"), "\\&.config is a folder");
  EXPECT_EQ(prose("'x' is quoted"), "\\(aqx\\(aq is quoted");
  EXPECT_EQ(prose("^bcast ~/x `y`"), "\\(habcast \\(ti/x \\(gay\\(ga");
}

TEST(Prose, KeepsOnlyTheHyphensOfOptions) {
  EXPECT_EQ(prose("one-way, with --dry-run (-n 2)"), "one-way, with \\-\\-dry\\-run (\\-n 2)");
  EXPECT_EQ(prose("a - b"), "a - b");
}

TEST(Literal, KeepsEveryTypedCharacter) {
  EXPECT_EQ(literal("mpirun -n 2 --x='a b'"), "mpirun \\-n 2 \\-\\-x=\\(aqa b\\(aq");
}

TEST(Paragraphs, ShowIndentedLinesUnchanged) {
  EXPECT_EQ(paragraphs("Wins:\n  a flag\n  .file\nLast.\n\nNew."),
            "Wins:\n.PP\n.EX\n  a flag\n  .file\n.EE\n.PP\nLast.\n.PP\nNew.\n");
  EXPECT_EQ(paragraphs("  huddle topo\n\n  huddle run\n"),
            ".EX\n  huddle topo\n.EE\n.PP\n.EX\n  huddle run\n.EE\n");
  EXPECT_EQ(paragraphs("one\ntwo"), "one\ntwo\n");
  EXPECT_EQ(paragraphs(""), "");
}

}  // namespace
}  // namespace huddle::manual
