// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/net_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

namespace huddle::cli {
namespace {

// The whole word a number of ranks.
int ranks_from(std::string_view word, const std::string& text) {
  int ranks = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ranks);
  if (error != std::errc() || end != word.data() + word.size() || ranks > most_ranks) {
    throw UsageError(
        fmt::format("'{}' is no number of ranks up to {}; such are written 8, 2..64 or 8,16,32",
                    text, most_ranks));
  }
  if (ranks < 1) throw UsageError(fmt::format("{} ranks? There has to be one at least", word));
  return ranks;
}

}  // namespace

void NetCallOptions::declare(Options& options) {
  constexpr int most = most_ranks;
  options.number("--root", root_, 0, most, "RANK", "where it starts or ends; else rank 0");
  options.number("--radix", radix_, 2, most, "K", "a rank sends to K-1 others in a round; else 2");
  options.number("--segments", segments_, 1, most, "COUNT",
                 "pieces of data that follow each other; else 1");
  options.number("--message-blocks", message_blocks_, 1, most, "COUNT",
                 "the most blocks in a message; else 1");
}

net::Call NetCallOptions::call(int ranks) const {
  return {ranks, root_, radix_, segments_, message_blocks_};
}

std::vector<int> rank_counts_from(const std::string& text) {
  std::vector<int> counts;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dots = item.find("..");
    const int first = ranks_from(item.substr(0, dots), text);
    const int last =
        dots == std::string_view::npos ? first : ranks_from(item.substr(dots + 2), text);
    if (last < first) throw UsageError(fmt::format("'{}' ends before it begins", item));
    for (int ranks = first; ranks <= last; ++ranks) counts.push_back(ranks);
    if (comma == std::string_view::npos) return counts;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<net::Algorithm> algorithms_from(const std::string& word) {
  if (word.find(':') != std::string::npos) return {net::algorithm_named(word)};
  const net::Operation operation = net::operation_named(word);
  std::vector<net::Algorithm> found;
  std::copy_if(
      net::algorithms().begin(), net::algorithms().end(), std::back_inserter(found),
      [operation](const net::Algorithm& algorithm) { return algorithm.operation == operation; });
  return found;
}

std::vector<std::string> algorithm_words() {
  std::vector<std::string> words;
  for (const net::Algorithm& algorithm : net::algorithms()) {
    const std::string operation(name(algorithm.operation));
    if (std::find(words.begin(), words.end(), operation) == words.end()) words.push_back(operation);
    words.push_back(algorithm.full_name());
  }
  return words;
}

}  // namespace huddle::cli
