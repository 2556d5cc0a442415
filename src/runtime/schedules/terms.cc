// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/schedules/association.h"

namespace huddle::net {
namespace {

// From here on terms are in a list. Below, a circle of so many ranks has a number for each
// interval.
constexpr Term first_listed = Term{1} << 31;

}  // namespace

Brackets::Brackets(int ranks)
    : ranks_(ranks),
      parts_(static_cast<std::size_t>(ranks) + 1),
      joined_with_(static_cast<std::size_t>(ranks) + 1) {}

Term Brackets::join(Term left, Term right) {
  for (const Joined& joined : joined_with_[left]) {
    if (joined.right == right) return joined.term;
  }
  const auto term = static_cast<Term>(parts_.size());
  parts_.emplace_back(left, right);
  joined_with_.emplace_back();
  joined_with_[left].push_back({right, term});
  return term;
}

Term Brackets::of_all() {
  return associated<Term>(ranks_, leaf,
                          [this](Term left, Term right) { return join(left, right); });
}

std::vector<Term> Brackets::prefixes(bool inclusive) {
  return associated_prefixes<Term>(ranks_, inclusive, no_term, leaf,
                                   [this](Term left, Term right) { return join(left, right); });
}

std::string Brackets::text(Term term) const {
  if (term == no_term) return "nothing";
  const auto& [left, right] = parts_[term];
  if (left == no_term) return std::to_string(term - 1);
  return fmt::format("({} {})", text(left), text(right));
}

Term Contributors::in_a_row(int first, int count) const {
  const int begin = count == ranks_ ? 0 : first;
  return static_cast<Term>(begin) * static_cast<Term>(ranks_ + 1) + static_cast<Term>(count);
}

std::optional<Term> Contributors::join(Term left, Term right) {
  if (left < first_listed && right < first_listed) {
    const auto size = static_cast<Term>(ranks_) + 1;
    const int first[] = {static_cast<int>(left / size), static_cast<int>(right / size)};
    const int count[] = {static_cast<int>(left % size), static_cast<int>(right % size)};
    if (count[0] + count[1] <= ranks_) {
      for (const int a : {0, 1}) {
        if ((first[a] + count[a]) % ranks_ == first[1 - a]) {
          return in_a_row(first[a], count[0] + count[1]);
        }
      }
    }
  }
  Intervals both;
  const Intervals lefts = intervals(left);
  const Intervals rights = intervals(right);
  std::merge(lefts.begin(), lefts.end(), rights.begin(), rights.end(), std::back_inserter(both));
  Intervals sum;
  for (const auto& [first, last] : both) {
    if (!sum.empty() && first <= sum.back().second) return std::nullopt;
    if (!sum.empty() && first == sum.back().second + 1) {
      sum.back().second = last;
    } else {
      sum.emplace_back(first, last);
    }
  }
  return number_of(sum);
}

Contributors::Intervals Contributors::intervals(Term term) const {
  if (term >= first_listed) return others_[term - first_listed];
  const auto size = static_cast<Term>(ranks_) + 1;
  const int first = static_cast<int>(term / size);
  const int end = first + static_cast<int>(term % size);
  if (end <= ranks_) return {{first, end - 1}};
  return {{0, end - ranks_ - 1}, {first, ranks_ - 1}};
}

Term Contributors::number_of(const Intervals& intervals) {
  const auto [first, last] = intervals.front();
  if (intervals.size() == 1) return in_a_row(first, last - first + 1);
  const auto [second, end] = intervals.back();
  if (intervals.size() == 2 && first == 0 && end == ranks_ - 1) {
    return in_a_row(second, last + 1 + ranks_ - second);
  }
  const auto [at, is_new] =
      numbers_.try_emplace(intervals, first_listed + static_cast<Term>(others_.size()));
  if (is_new) others_.push_back(intervals);
  return at->second;
}

std::string Contributors::text(Term term) const {
  if (term == no_term) return "nothing";
  std::string text;
  for (const auto& [first, last] : intervals(term)) {
    if (!text.empty()) text += ' ';
    text += first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
  }
  return text;
}

}  // namespace huddle::net
