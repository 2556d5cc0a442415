// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace huddle {
namespace {

const std::vector<std::string> commands = {"topo", "calibrate", "doctor", "config"};

TEST(Nearest, CorrectsTypingErrors) {
  EXPECT_EQ(nearest("calibarte", commands), "calibrate");
  EXPECT_EQ(nearest("tpoo", commands), "topo");
  EXPECT_EQ(nearest("confg", commands), "config");
}

TEST(Nearest, ReturnsNothingIfNothingIsNear) {
  EXPECT_EQ(nearest("broadcast", commands), "");
  EXPECT_EQ(did_you_mean("broadcast", commands), "");
  EXPECT_EQ(did_you_mean("topi", commands), "; did you mean 'topo'?");
}

TEST(Nearest, ASwapOfNeighborsIsOneEdit) {
  EXPECT_EQ(nearest("bcats", std::vector<std::string>{"bcast"}), "bcast");
  EXPECT_EQ(nearest("rign", std::vector<std::string>{"ring"}), "ring");
}

TEST(Nearest, ShortWordsMatchOnlyIfOneEditApart) {
  const std::vector<std::string> settings = {"ops", "net", "heap", "stats"};
  EXPECT_EQ(nearest("nope", settings), "");
  EXPECT_EQ(nearest("x", settings), "");
  EXPECT_EQ(nearest("hepa", settings), "heap");
  EXPECT_EQ(nearest("op", settings), "ops");
  EXPECT_EQ(nearest("opps", settings), "ops");
}

TEST(CollectiveWord, IgnoresPrefixAndCase) {
  for (const char* word :
       {"reduce_scatter_block", "MPI_Reduce_scatter_block", "Reduce_scatter_block",
        "MPI_REDUCE_SCATTER_BLOCK", "mpi_reduce_scatter_block"}) {
    EXPECT_EQ(collective_word(word), "reduce_scatter_block");
  }
  EXPECT_EQ(collective_word("MPI"), "mpi");
  EXPECT_EQ(collective_word(""), "");
}

TEST(Counted, UsesTheSingularForOne) {
  EXPECT_EQ(counted(0, "reader"), "0 readers");
  EXPECT_EQ(counted(1, "reader"), "1 reader");
  EXPECT_EQ(counted(12, "reader"), "12 readers");
}

TEST(SizeText, UsesPowersOf1024) {
  EXPECT_EQ(size_text(64), "64");
  EXPECT_EQ(size_text(48 * 1024), "48K");
  EXPECT_EQ(size_text(1.5 * 1024 * 1024), "1.5M");
  EXPECT_EQ(size_text(32.0 * 1024 * 1024 * 1024), "32G");
}

TEST(SizeFrom, ParsesTheOutputOfSizeText) {
  for (const std::size_t bytes : {0U, 1U, 64U, 48U << 10, 3U << 19, 32U << 20}) {
    EXPECT_EQ(size_from(size_text(bytes)), bytes);
  }
  EXPECT_EQ(size_from("64KiB"), 64U << 10);
  EXPECT_EQ(size_from("2gb"), 2U << 30);
  EXPECT_EQ(size_from("12B"), 12U);
}

TEST(SizeFrom, RejectsOtherText) {
  for (const char* text : {"", "K", "64 K", "-1", "1.3", "64KK", "64Ki8", "nan", "inf", "0x10",
                           "1e5", "99999999T", "64i"}) {
    EXPECT_EQ(size_from(text), std::nullopt) << text;
  }
}

TEST(TimeText, ChoosesTheUnit) {
  EXPECT_EQ(time_text(47.21), "47.2 ns");
  EXPECT_EQ(time_text(1632), "1.63 us");
  EXPECT_EQ(time_text(2.5e9), "2.5 s");
  EXPECT_EQ(time_text(123456e9), "123456 s");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("\x1b[31mred\x7f\r\t"), "?[31mred???");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m\xc2"),
            "a?31m\xc2");
  EXPECT_EQ(printable("Gödel ┌─┐\nµs\u00a0"), "Gödel ┌─┐ µs\u00a0");
}

TEST(DisplayWidth, CountsCharactersNotBytes) { EXPECT_EQ(display_width("a┌─┐"), 4U); }

}  // namespace
}  // namespace huddle
