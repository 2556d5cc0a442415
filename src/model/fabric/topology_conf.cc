// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/fabric/topology_conf.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>

#include "common/error.h"
#include "common/text.h"
#include "model/fabric/fabric.h"

namespace huddle::fabric {
namespace {

constexpr std::size_t longest_name = 128;  // in bytes, with its brackets
constexpr std::size_t most_digits = 9;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw InputError(fmt::format("'{}' names no nodes: {}", text, why));
}

int number(std::string_view digits, std::string_view whole) {
  int value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || value < 0 || digits.size() > most_digits) {
    refuse(whole, fmt::format("'{}' is not a number", digits));
  }
  return value;
}

// Splits `text` at commas outside of brackets.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !inside)) {
      items.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '[' || text[i] == ']') {
      if (inside == (text[i] == '[')) refuse(text, "its brackets do not match");
      inside = !inside;
    }
  }
  if (inside) refuse(text, "its brackets do not match");
  return items;
}

// Expands "0-3,7". Leading zeros are kept, as in "00-15".
std::vector<std::string> numbers_of(std::string_view ranges, std::string_view whole,
                                    std::size_t most) {
  std::vector<std::string> all;
  for (const std::string_view range : items_of(ranges)) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const int from = number(first, whole);
    const int to = number(last, whole);
    if (to < from) refuse(whole, fmt::format("{} runs backwards", range));
    if (all.size() + static_cast<std::size_t>(to - from) >= most) refuse(whole, "too many");
    for (int i = from; i <= to; ++i) all.push_back(fmt::format("{:0{}}", i, first.size()));
  }
  return all;
}

std::vector<std::string> joined(const std::vector<std::string>& heads,
                                const std::vector<std::string>& tails) {
  std::vector<std::string> all;
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) all.push_back(head + tail);
  }
  return all;
}

}  // namespace

std::vector<std::string> parse_host_list(std::string_view text, std::size_t most) {
  std::vector<std::string> all;
  for (const std::string_view item : items_of(text)) {
    if (item.empty()) refuse(text, "a name is empty");
    if (item.size() > longest_name) refuse(text.substr(0, 40), "a name is too long");
    std::vector<std::string> names = {""};
    for (std::size_t at = 0; at < item.size();) {
      const std::size_t open = item.find('[', at);
      for (std::string& name : names) name += item.substr(at, open - at);
      if (open == std::string_view::npos) break;
      const std::size_t close = item.find(']', open);
      const auto tails = numbers_of(item.substr(open + 1, close - open - 1), text, most);
      if (names.size() * tails.size() > most) refuse(text, "too many");
      names = joined(names, tails);
      at = close + 1;
    }
    if (all.size() + names.size() > most) refuse(text, "too many");
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

namespace {

std::string lower(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return all;
}

bool is_space(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// One logical line of the file, with continuation lines appended and the comment removed.
struct Line {
  std::string text;
  int number = 0;
};

// Removes the next word from `text` and returns it; nothing at the end.
std::optional<std::string> next_word(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  std::string word(text.substr(0, end));
  text.remove_prefix(end);
  return word;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  bool goes_on = false;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    const bool continued = !line.empty() && line.back() == '\\';
    if (continued) line.remove_suffix(1);
    if (goes_on) {
      lines.back().text += line;
    } else {
      lines.push_back({std::string(line), number});
    }
    goes_on = continued;
  }
  return lines;
}

class TopologyConfReader {
 public:
  TopologyConfReader(std::string_view text, const std::string& name) : text_(text), file_(name) {}

  Fabric read() {
    if (text_.find('\0') != std::string_view::npos) refuse(1, "not a text file");
    for (const Line& line : lines_of(text_)) read_line(line);
    if (entries_.empty()) refuse(1, "no line names a switch (SwitchName=...)");
    Fabric fabric;
    fabric.name = std::filesystem::path(file_).stem().string();
    fabric.method = "Slurm's topology.conf, which contains neither rates nor latencies";
    fabric.doubts = {
        "topology.conf contains no rates: links between switches are assumed to carry everything "
        "that the nodes below can send",
        "topology.conf contains no latencies: further switches are assumed to add no latency"};
    grow_tree(entries_, fabric,
              [this](std::size_t i, const std::string& why) { refuse(lines_[i], why); });
    validate(fabric);
    return fabric;
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& why) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line, printable(why)));
  }

  void read_line(const Line& line) {
    std::string_view rest = line.text;
    std::optional<std::string> word = next_word(rest);
    if (!word) return;
    NamedSwitch entry;
    for (; word; word = next_word(rest)) read_word(*word, line.number, entry);
    if (entry.name.empty()) refuse(line.number, "'SwitchName' is missing");
    if (entries_.size() >= most_switches) refuse(line.number, "too many switches");
    entries_.push_back(std::move(entry));
    lines_.push_back(line.number);
  }

  void read_word(const std::string& word, int line, NamedSwitch& entry) {
    static const std::vector<std::string> keys = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string low = lower(key);
    if (low == "blockname" || low == "blocksizes") {
      refuse(line,
             "this file is for Slurm's plugin topology/block; huddle reads only trees of switches");
    }
    const bool known = std::any_of(keys.begin(), keys.end(),
                                   [&low](const std::string& one) { return lower(one) == low; });
    if (!known || equals == std::string::npos) {
      refuse(line,
             fmt::format("'{}' is not a KEY=VALUE of a switch{}", word, did_you_mean(key, keys)));
    }
    const std::string value = word.substr(equals + 1);
    if (low == "switchname") entry.name = value;
    if (low == "nodes") entry.nodes = names(value, line, nodes_left_);
    if (low == "switches") entry.switches = names(value, line, switches_left_);
  }

  std::vector<std::string> names(const std::string& list, int line, std::size_t& left) {
    try {
      std::vector<std::string> all = parse_host_list(list, left);
      left -= all.size();
      return all;
    } catch (const InputError& error) {
      refuse(line, error.what());
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<NamedSwitch> entries_;
  std::vector<int> lines_;
  std::size_t nodes_left_ = most_nodes;
  std::size_t switches_left_ = most_switches;
};

}  // namespace

bool looks_like_topology_conf(std::string_view text) {
  for (const Line& line : lines_of(text.substr(0, 1 << 16))) {
    std::string_view rest = line.text;
    const std::optional<std::string> word = next_word(rest);
    if (!word) continue;
    const std::string low = lower(*word);
    return low.starts_with("switchname=") || low.starts_with("blockname=");
  }
  return false;
}

Fabric parse_topology_conf(std::string_view text, const std::string& name) {
  return TopologyConfReader(text, name).read();
}

}  // namespace huddle::fabric
