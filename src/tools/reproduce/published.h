// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a paper says it found, figure by figure: the files papers/*.toml, one a paper.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::reproduce {

// How a figure can be held against one of ours.
enum class Kind {
  exact,           // arithmetic or counting from what the paper itself gives
  ratio,           // a time by another time, of which ours are prices
  value,           // a time, or a size that is best, by itself
  direction,       // the first of two is the faster: the ratio is below 1
  not_comparable,  // not at all; the figure says why
};
inline constexpr std::array<std::string_view, 5> kind_names = {"exact", "ratio", "value",
                                                               "direction", "not comparable"};
constexpr std::string_view name(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

// One figure or, where the paper says "20 to 40 %", a span of them.
struct Span {
  double from = 0;
  double to = 0;

  bool operator==(const Span&) const = default;
};

struct Figure {
  std::string name;   // that of its experiment: "barrier-levels"
  std::string where;  // in the paper: "Fig. 6", "barrier"
  std::string what;   // of what it is a figure, in half a sentence
  Kind kind = Kind::exact;
  std::optional<Span> published;  // none of a direction
  std::string unit;               // "us"; empty: none
  std::string on;   // the machine or fabric it is computed or measured on; empty: neither
  std::string why;  // it cannot be compared, or ours misses it; empty: it is not known
};

struct Paper {
  std::string name;   // "zhang"
  std::string title;  // authors and title
  std::vector<Figure> figures;
};

// Throws InputError "FILE:LINE: what is wrong" for anything that is not a sound file of figures.
Paper parse_paper(std::string_view text, const std::string& name);

// The figures that come with huddle. Throws FailureError where they are not installed.
Paper load_paper(const std::string& name);

}  // namespace huddle::reproduce
