// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/manual/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace huddle::manual {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* small_header = R"(/* licence */
/**
 * What it is.
 *
 *     as it is
 */
#ifndef SMALL_H

/* of no chapter */
int nobody(void);

/* ---- things ---- */

/** Two of them:
 *  one comment. */
int first(int a,
          int b);
const char* second(void);
/** Alone. */

typedef struct small_thing small_thing;
#undef SMALL
/** Behind the end. */
)";

TEST(Header, IsChaptersOfPassages) {
  const Header header = header_of(small_header);
  EXPECT_EQ(header.opening, "What it is.\n\n   as it is\n");
  ASSERT_THAT(header.chapters, SizeIs(1));
  EXPECT_EQ(header.chapters[0].heading, "things");
  const auto& passages = header.chapters[0].passages;
  ASSERT_THAT(passages, SizeIs(3));
  EXPECT_EQ(passages[0].comment, "Two of them:\none comment.\n");
  EXPECT_THAT(functions_in(passages[0].code), ElementsAre("first", "second"));
  EXPECT_EQ(passages[1].comment, "Alone.\n");
  EXPECT_EQ(passages[1].code, "");
  EXPECT_EQ(passages[2].comment, "");
  EXPECT_EQ(passages[2].code, "typedef struct small_thing small_thing;\n");
}

TEST(Header, TypesAreNotFunctions) {
  EXPECT_THAT(functions_in("typedef int (*callback)(void* arg);\n"), IsEmpty());
}

TEST(Composite, EnumerationHasCommentsAfterItsValues) {
  const Composite kind = composite_of(R"(typedef enum kind {
  KIND_A = 1, /**< the first,
                   of two */
  KIND_B,
} kind;
)");
  EXPECT_EQ(kind.name, "typedef enum kind");
  ASSERT_THAT(kind.members, SizeIs(2));
  EXPECT_EQ(kind.members[0].code, "KIND_A = 1,");
  EXPECT_EQ(kind.members[0].comment, "the first,\nof two\n");
  EXPECT_EQ(kind.members[1].code, "KIND_B,");
  EXPECT_EQ(kind.members[1].comment, "");
}

TEST(Composite, StructureHasCommentsAboveItsFields) {
  const Composite thing = composite_of(R"(typedef struct thing {
  /** How many. */
  int count;
  void (*call)(void* arg, int n);
} thing;
)");
  ASSERT_THAT(thing.members, SizeIs(2));
  EXPECT_EQ(thing.members[0].code, "int count;");
  EXPECT_EQ(thing.members[0].comment, "How many.\n");
  EXPECT_EQ(thing.members[1].code, "void (*call)(void* arg, int n);");
  EXPECT_THAT(composite_of("int f(void);\n").members, IsEmpty());
}

}  // namespace
}  // namespace huddle::manual
