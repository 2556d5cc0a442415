// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/error.h"

namespace huddle::network {
namespace {

// The KEY=VALUE arguments of a question. A missing key is an error.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw UsageError(fmt::format("'{}' is not KEY=VALUE", word));
      values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }

  const std::string& text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw UsageError(fmt::format("'{}=' is missing", key));
    return found->second;
  }
  template <typename Number>
  Number number(const std::string& key) const {
    try {
      return static_cast<Number>(std::stold(text(key)));
    } catch (const std::exception&) {
      throw UsageError(fmt::format("'{}={}' is not a number", key, text(key)));
    }
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace

std::optional<Judge> judge_named(std::string_view name) {
  const auto found = std::find(judge_names.begin(), judge_names.end(), name);
  if (found == judge_names.end()) return std::nullopt;
  return static_cast<Judge>(found - judge_names.begin());
}

std::string_view smpi_algorithm(std::string_view algorithm) {
  if (algorithm == "allgather:ring")
    return "NTSLR";  // SMPI's "ring" sends every block directly to all ranks
  if (algorithm == "allgather:doubling") return "rdb";
  if (algorithm == "allgather:bruck") return "bruck";
  if (algorithm == "allgather:neighbor") return "ompi_neighborexchange";
  return "";
}

std::vector<std::string> words_of(const Question& question) {
  const schedules::Call& call = question.call;
  return {fmt::format("judge={}", judge_names[static_cast<std::size_t>(question.judge)]),
          "fabric=" + question.fabric,
          "machine=" + question.machine,
          "algorithm=" + question.algorithm,
          fmt::format("ranks={}", call.ranks),
          fmt::format("root={}", call.root),
          fmt::format("radix={}", call.radix),
          fmt::format("segments={}", call.segments),
          fmt::format("message_blocks={}", call.message_blocks),
          fmt::format("block_bytes={:.17g}", question.block_bytes),
          fmt::format("placement={}", static_cast<int>(question.placement)),
          fmt::format("seed={}", question.seed)};
}

Question question(const std::vector<std::string>& words) {
  const Words given(words);
  Question question;
  const auto judge = judge_named(given.text("judge"));
  if (!judge) throw UsageError(fmt::format("unknown simulator '{}'", given.text("judge")));
  question.judge = *judge;
  question.fabric = given.text("fabric");
  question.machine = given.text("machine");
  question.algorithm = given.text("algorithm");
  question.call.ranks = given.number<int>("ranks");
  question.call.root = given.number<int>("root");
  question.call.radix = given.number<int>("radix");
  question.call.segments = given.number<std::int64_t>("segments");
  question.call.message_blocks = given.number<std::int64_t>("message_blocks");
  question.block_bytes = given.number<double>("block_bytes");
  question.placement = static_cast<fabric::Placement>(
      std::min(given.number<int>("placement"), static_cast<int>(fabric::Placement::random)));
  question.seed = given.number<std::uint64_t>("seed");
  return question;
}

}  // namespace huddle::network
