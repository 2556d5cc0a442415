// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/comm_matrix.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "../../common/scratch.h"
#include "common/error.h"
#include "placement/mapping/graph.h"

namespace huddle::mapping {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CommMatrix parse(std::string_view text, Rows rows = Rows::first) {
  return parse_matrix(text, "m", {rows});
}

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// Returns every pair once: "0-1:30 1-2:5".
std::string pairs_of(const CommMatrix& matrix) {
  std::string text;
  for (int v = 0; v < matrix.size(); ++v) {
    const Graph::Row row = matrix.graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      text +=
          fmt::format("{}{}-{}:{}", text.empty() ? "" : " ", v, row.neighbours[i], row.bytes[i]);
    }
  }
  return text;
}

TEST(CommMatrix, CsvRowsAreReadInBothOrders) {
  EXPECT_EQ(pairs_of(parse("0,1,2\n1,0,3\n2,3,0\n")), "0-1:2 0-2:4 1-2:6");
  EXPECT_EQ(pairs_of(parse("2,3,0\n1,0,3\n0,1,2\n", Rows::last)), "0-1:2 0-2:4 1-2:6");
}

TEST(CommMatrix, FirstRowOfNumbersIsNoHeading) {
  EXPECT_THAT(error_of("0,x\n1,0\n0,1\n"), HasSubstr("m:1: 'x' is not a number"));
  EXPECT_EQ(pairs_of(parse("a,1\n0,7\n7,0\n")), "0-1:14");
  EXPECT_EQ(pairs_of(parse(",0,1\n0,0,7\n1,7,0\n")), "0-1:14");
}

TEST(CommMatrix, ThreadEventsSurviveRoundTrip) {
  CommMatrix matrix;
  matrix.kind = Kind::threads;
  GraphBuilder builder(3);
  builder.add({0, 1, 5});
  builder.add({1, 2, 7});
  matrix.events = Events{builder.finish(), 1.25};
  matrix.graph = matrix.events->counts;
  for (double& bytes : matrix.graph.bytes) bytes *= 4096;
  matrix.unobserved = {"not observed: reads"};
  const CommMatrix read = parse(format_matrix(matrix));
  EXPECT_EQ(read.graph, matrix.graph);
  ASSERT_TRUE(read.events);
  EXPECT_EQ(read.events->counts, matrix.events->counts);
  EXPECT_EQ(read.events->dispersion, 1.25);
  EXPECT_EQ(read.events->total(), 12);
  EXPECT_EQ(read.unobserved, matrix.unobserved);
  EXPECT_THAT(read.notes, IsEmpty()) << "each pair is written once, which is no difference";
}

TEST(CommMatrix, MemoryTrafficSurvivesRoundTrip) {
  CommMatrix matrix;
  matrix.graph = GraphBuilder(2).finish();
  matrix.memory = MemoryTraffic{2.5, {1e9, 0}, {}};
  CommMatrix read = parse(format_matrix(matrix));
  ASSERT_TRUE(read.memory);
  EXPECT_EQ(read.memory->seconds, 2.5);
  EXPECT_EQ(read.memory->bytes, matrix.memory->bytes);
  EXPECT_THAT(read.memory->working_set_bytes, IsEmpty());
  matrix.memory->working_set_bytes = {4096, 0};
  read = parse(format_matrix(matrix));
  EXPECT_EQ(read.memory->working_set_bytes, matrix.memory->working_set_bytes);
}

TEST(CommMatrix, DamagedMemoryTrafficIsReported) {
  const auto error_with = [](const std::string& memory) {
    return error_of(R"({"schema": "huddle-comm", "version": 1, "n": 2, "memory": )" + memory +
                    R"(, "entries": []})");
  };
  EXPECT_THAT(error_with("3"), HasSubstr("\"seconds\" above 0"));
  EXPECT_THAT(error_with(R"({"seconds": 0, "bytes": [1, 2]})"), HasSubstr("\"seconds\" above 0"));
  EXPECT_THAT(error_with(R"({"seconds": 1, "bytes": [1]})"), HasSubstr("a list of 2 numbers"));
  EXPECT_THAT(error_with(R"({"seconds": 1, "bytes": [1, -1]})"), HasSubstr("a list of 2 numbers"));
  EXPECT_THAT(error_with(R"({"seconds": 1, "bytes": [1, 2], "working_set": 3})"),
              HasSubstr("\"working_set\" must be"));
}

TEST(CommMatrix, OlderProfilesAreReadWithoutEvents) {
  const CommMatrix read =
      parse(R"({"schema": "huddle-comm", "version": 1, "kind": "threads", "n": 2,
                "entries": [[0, 1, 4096]]})");
  EXPECT_EQ(pairs_of(read), "0-1:4096");
  EXPECT_FALSE(read.events);
}

TEST(CommMatrix, DamagedEventsAreReported) {
  const std::string head = R"({"schema": "huddle-comm", "version": 1, "n": 2, )";
  EXPECT_THAT(error_of(head + "\"events\": 3, \"entries\": []}"), HasSubstr("dispersion"));
  EXPECT_THAT(error_of(head + "\"events\": {\"dispersion\": -1}, \"entries\": []}"),
              HasSubstr("0 or more"));
  EXPECT_THAT(error_of(head + "\"events\": {\"dispersion\": 1}, \"entries\": [[0, 1, 5]]}"),
              HasSubstr("the number of events is missing"));
  EXPECT_THAT(error_of(head + "\"unobserved\": [1], \"entries\": []}"),
              HasSubstr("\"unobserved\" must be a list of strings"));
}

TEST(CommMatrix, CsvAcceptsSeparatorsNamesAndComments) {
  for (const char* text : {"0;7\n7;0\n", "0 7\n7 0\n", "0\t7\n7\t0\n", "# said\n0,7\n\n7,0\n",
                           "0,7,\r\n7,0,\r\n", "\uFEFF0,7\n7,0\n"}) {
    EXPECT_EQ(pairs_of(parse(text)), "0-1:14") << text;
  }
  const CommMatrix named = parse(",left,right\nleft,0,7\nright,7,0\n");
  EXPECT_EQ(pairs_of(named), "0-1:14");
  EXPECT_THAT(named.names, ElementsAre("left", "right"));
  EXPECT_EQ(named.name_of(1), "1 (right)");
  EXPECT_THAT(parse("left,right\n0,7\n7,0\n").names, ElementsAre("left", "right"));
}

TEST(CommMatrix, CsvRowBeginningWithNumberIsNoHeading) {
  for (const char* text : {"0,x\n5,0\n0,5\n", "0,7\n7,x\n", "0,,7\n1,0,2\n7,2,0\n"}) {
    EXPECT_THROW(parse(text), InputError) << text;
  }
  EXPECT_EQ(pairs_of(parse(",0,1\n0,0,7\n1,7,0\n")), "0-1:14") << "numbers as names";
}

TEST(CommMatrix, OneSidedPairsAndDiagonalAreNoted) {
  EXPECT_THAT(parse("0,1\n1,0\n").notes, IsEmpty());
  const CommMatrix matrix = parse("5,1\n2,0\n");
  EXPECT_EQ(pairs_of(matrix), "0-1:3");
  EXPECT_THAT(matrix.notes, ElementsAre(HasSubstr("1 pair differs by direction"),
                                        HasSubstr("1 entry on the diagonal is ignored")));
}

TEST(CommMatrix, AllMatrixMarketFormsAreRead) {
  EXPECT_EQ(
      pairs_of(parse("%%MatrixMarket matrix coordinate real general\n% said\n3 3 2\n1 2 5\n3 2 "
                     "7\n")),
      "0-1:5 1-2:7");
  EXPECT_EQ(pairs_of(parse("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 "
                           "7\n")),
            "0-1:10");
  EXPECT_EQ(pairs_of(parse("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")),
            "0-1:1");
  EXPECT_EQ(pairs_of(parse("%%MatrixMarket matrix array real general\n2 2\n0\n1\n2\n0\n")),
            "0-1:3");
  EXPECT_EQ(pairs_of(parse("%%MatrixMarket matrix array real symmetric\n2 2\n0\n1\n0\n")), "0-1:2");
}

TEST(CommMatrix, EdgeListsUseThreeColumns) {
  EXPECT_EQ(
      pairs_of(parse("# from to bytes messages\n0 1 10 1\n1 2 20 3\n2 1 5 1\n0 3 1 1\n4 0 2 1\n")),
      "0-1:10 0-3:1 0-4:2 1-2:25");
}

TEST(CommMatrix, MonitoringCountsTrafficOfProgramOnly) {
  const CommMatrix matrix = parse(
      "# POINT TO POINT\n"
      "E\t0\t1\t32 bytes\t8 msgs sent\t0,0,0,8\n"
      "I\t0\t1\t512 bytes\t2 msgs sent\n"
      "S\t1\t2\t64 bytes\t1 msgs sent\n"
      "# COLLECTIVES\n"
      "C\t0\t2\t99 bytes\t1 msgs sent\n");
  EXPECT_EQ(matrix.kind, Kind::ranks);
  EXPECT_EQ(pairs_of(matrix), "0-1:32 1-2:64");
  EXPECT_THAT(matrix.notes,
              testing::Contains(HasSubstr("2 lines with messages of collectives ignored")));
}

TEST(CommMatrix, OwnFormatSurvivesRoundTrip) {
  const CommMatrix matrix = parse(
      R"({"schema": "huddle-comm", "version": 1, "kind": "threads", "n": 3, "names": ["a", "b", "c"],
          "entries": [[0, 1, 10, 2], [1, 0, 4, 1], [2, 1, 0.5, 1]]})");
  EXPECT_EQ(matrix.kind, Kind::threads);
  EXPECT_EQ(pairs_of(matrix), "0-1:14 1-2:0.5");
  const CommMatrix again = parse(format_matrix(matrix));
  EXPECT_EQ(again.graph, matrix.graph);
  EXPECT_EQ(again.names, matrix.names);
  EXPECT_EQ(again.kind, matrix.kind);
}

TEST(CommMatrix, AllZerosIsValid) {
  const CommMatrix matrix = parse("0,0\n0,0\n");
  EXPECT_EQ(matrix.size(), 2);
  EXPECT_EQ(matrix.graph.edges(), 0U);
}

TEST(CommMatrix, DenseMatrixEqualsSparseOne) {
  // stored as a triangular matrix, not as a list
  const Graph graph = graph_of(Pattern::all_to_all, 40, 1);
  std::string text;
  for (int row = 0; row < 40; ++row) {
    for (int column = 0; column < 40; ++column) text += column == row ? "0 " : "4096 ";
    text += '\n';
  }
  EXPECT_EQ(parse(text).graph, graph);
  EXPECT_EQ(graph.edges(), 40U * 39 / 2);
}

TEST(CommMatrix, DamageIsReportedWithFileAndLine) {
  EXPECT_THAT(error_of("0,1\n1\n"), StartsWith("m:2: 1 number in this row, but 2 in the first"));
  EXPECT_THAT(error_of("0,1\n"), StartsWith("m:1: the file ends after 1 row of 2 columns"));
  EXPECT_THAT(error_of("0,1\n1,0\n1,1\n"), StartsWith("m:3: more rows than the 2 columns"));
  EXPECT_THAT(error_of("0,1\n-1,0\n"), StartsWith("m:2: '-1' is negative"));
  EXPECT_THAT(error_of("0,nan\n1,0\n"), StartsWith("m:1: 'nan' is not an amount"));
  EXPECT_THAT(error_of("0,1\ninf,0\n"), StartsWith("m:2: 'inf' is not an amount"));
  EXPECT_THAT(error_of("0,1\nx,0\n"), StartsWith("m:2: 'x' is not a number"));
  EXPECT_THAT(error_of("a,b\n,\n"), StartsWith("m:2: a row without numbers"));
  EXPECT_THAT(error_of(""), StartsWith("m:1: the file is empty"));
  EXPECT_THAT(error_of("\n \n"), StartsWith("m:1: the file is empty"));
  EXPECT_THAT(error_of(std::string_view("0,1\n1,\0\n", 8)), StartsWith("m:2: not a text file"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate complex general\n"),
              StartsWith("m:1: unsupported header; huddle reads"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n"),
              StartsWith("m:2: 2 rows and 3 columns: the matrix must be square"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n"),
              StartsWith("m:3: rows and columns are counted from 1"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n"),
              StartsWith("m:3: 1 entries, but 2 were announced"));
  EXPECT_THAT(error_of("0 1 5\n0 70000 5\n"), StartsWith("m:2: element '70000' is out of range"));
  EXPECT_THAT(error_of("E\t0\t1\t-5 bytes\n"), StartsWith("m:1: '-5' is negative"));
}

TEST(CommMatrix, DamagedJsonIsReportedWithFileAndLine) {
  EXPECT_THAT(error_of("{\n\"schema\": 5,\n}"), StartsWith("m:3: invalid JSON"));
  EXPECT_THAT(error_of("{\n\"schema\": \"other\"}"), StartsWith("m:2: \"schema\" is not"));
  const auto with = [](const std::string& rest) {
    return "{\"schema\": \"huddle-comm\", \"version\": 1,\n" + rest + "}";
  };
  EXPECT_THAT(error_of(with("\"n\": 70000")), StartsWith("m:2: \"n\" must be a whole number"));
  EXPECT_THAT(error_of(with("\"n\": 2, \"kind\": \"cats\"")), StartsWith("m:2: \"kind\""));
  EXPECT_THAT(error_of(with("\"n\": 2, \"names\": [\"a\"]")), StartsWith("m:2: 1 names for 2"));
  EXPECT_THAT(error_of(with("\"n\": 2,\n\"entries\": [\n[0, 1, 5, 1],\n[0, 2, 5, 1]]")),
              StartsWith("m:5: entry 1: elements are numbered from 0 to 1"));
  EXPECT_THAT(error_of(with("\"n\": 2,\n\"entries\": [[0, 1, -5, 1]]")),
              AllOf(StartsWith("m:3: entry 0"), HasSubstr("from 0 to 1e18")));
}

TEST(CommMatrix, ExcessiveAmountsAreRejected) {
  EXPECT_THAT(error_of("0,1e300\n1,0\n"), StartsWith("m:1: '1e300' is not an amount"));
  EXPECT_THAT(error_of("{\n\"n\": 2e308}"), StartsWith("m:2: the number '2e308' is too large"));
}

TEST(CommMatrix, MissingFileIsReported) {
  EXPECT_THROW(read_matrix("/no/such/matrix", {}), InputError);
  const huddle::test::Scratch scratch;
  EXPECT_EQ(pairs_of(read_matrix(scratch.write("m.csv", "0,1\n0,0\n"), {})), "0-1:1");
}

}  // namespace
}  // namespace huddle::mapping
