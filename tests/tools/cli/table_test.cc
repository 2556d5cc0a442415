// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/terminal_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "common/text.h"

namespace huddle::cli {
namespace {

Table sample() {
  Table table({"step", "measurements", "seconds"}, {.indent = 2, .name_columns = 20});
  table.add({"short", "3", "0.5"});
  table.add({"line latency, scan of 2016 pairs of cores", "2016", "61.5"});
  return table;
}

TEST(Table, AlignsNamesAndFigures) {
  EXPECT_EQ(sample().text(80),
            "step                                         measurements  seconds\n"
            "  short                                                 3      0.5\n"
            "  line latency, scan of 2016 pairs of cores          2016     61.5\n");
}

TEST(Table, BreaksNamesInNarrowTerminals) {
  EXPECT_EQ(sample().text(50),
            "step                         measurements  seconds\n"
            "  short                                 3      0.5\n"
            "  line latency, scan of\n"
            "  2016 pairs of cores                2016     61.5\n");
}

TEST(Table, PutsNumbersBelowNamesInNarrowerTerminals) {
  Table table({"name", "figure"}, {});
  table.add({"a name", "12"});
  EXPECT_EQ(table.text(20), "name\n  figure\na name\n      12\n");
}

TEST(Table, FitsEveryWidthThatItsNumbersFit) {
  for (int columns = 23; columns <= 100; ++columns) {
    std::istringstream text(sample().text(columns));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(static_cast<int>(display_width(line)), columns) << line;
    }
  }
}

}  // namespace
}  // namespace huddle::cli
