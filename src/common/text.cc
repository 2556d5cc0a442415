// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace huddle {
namespace {

// Counts insertions, deletions, substitutions and swaps of adjacent characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_before(b.size() + 1);
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_before, before);
    std::swap(before, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, substituted});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row.back();
}

// Formats three significant digits without trailing zeros: 1.5, 48, 12.3, 1024.
std::string short_number(double value) {
  if (std::abs(value) >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  // A one-character word has no near candidate: every other character is only one edit away.
  const std::size_t most_edits = word.size() < 2 ? 0 : std::max<std::size_t>(1, word.size() / 3);
  std::size_t best_distance = most_edits + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string guess = nearest(word, candidates);
  return guess.empty() ? std::string() : fmt::format("; did you mean '{}'?", guess);
}

std::string collective_word(std::string_view word) {
  constexpr std::string_view prefix = "mpi_";
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return lower.starts_with(prefix) ? lower.substr(prefix.size()) : lower;
}

std::string size_text(double bytes) {
  static constexpr std::array<std::string_view, 5> units = {"", "K", "M", "G", "T"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return short_number(bytes) + std::string(units[unit]);
}

std::optional<std::size_t> size_from(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  std::string unit(rest, end);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char letter) { return std::toupper(letter); });
  if (!unit.empty() && unit.back() == 'B') unit.pop_back();
  if (unit.size() == 2 && unit.back() == 'I') unit.pop_back();
  constexpr std::string_view units = "KMGT";
  for (std::size_t power = 0; !unit.empty() && power < units.size(); ++power) {
    number *= 1024;
    if (unit == units.substr(power, 1)) unit.clear();
  }
  // Larger than any memory, and representable as double and as std::size_t.
  constexpr double most = 1e18;
  if (!unit.empty() || number > most || number != std::floor(number)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string counted(long long number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string time_text(double ns) {
  static constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (ns >= 1000 && unit + 1 < units.size()) {
    ns /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", short_number(ns), units[unit]);
}

std::string printable(std::string_view utf8) {
  std::string text;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    // U+0080 to U+009F take two bytes; some terminals interpret them as control sequences.
    const bool two_bytes =
        byte == 0xC2 && i + 1 < utf8.size() && static_cast<unsigned char>(utf8[i + 1]) < 0xA0;
    const bool control = two_bytes || byte == 0x7F || byte < 0x20;
    text += byte == '\n' ? ' ' : control ? '?' : utf8[i];
    if (two_bytes) ++i;
  }
  return text;
}

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace huddle
