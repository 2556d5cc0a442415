// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/memory_map.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace huddle::threads {
namespace {

// Removes the first word from `line` and returns it. The line then begins with the next word.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

std::uint64_t decimal_from(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Parses "55d0c000-55d0e000 rw-p 00001000 fe:00 12345   /path with spaces".
std::optional<MapEntry> map_entry_from(std::string_view line) {
  MapEntry entry{.range = range_from(take_word(line))};
  const std::string_view access = take_word(line);
  const std::string_view offset = take_word(line);
  take_word(line);  // device
  entry.inode = decimal_from(take_word(line));
  const auto parsed =
      std::from_chars(offset.data(), offset.data() + offset.size(), entry.offset, 16);
  if (parsed.ec != std::errc() || entry.range.end <= entry.range.start) return std::nullopt;
  entry.is_writable = access.find('w') != std::string_view::npos;
  entry.path = line;
  return entry;
}

}  // namespace

std::vector<MapEntry> map_entries(const std::vector<std::string>& maps) {
  std::vector<MapEntry> entries;
  for (const std::string& line : maps) {
    if (line.empty()) continue;
    if (std::optional<MapEntry> entry = map_entry_from(line)) entries.push_back(std::move(*entry));
  }
  return entries;
}

MemoryMap::MemoryMap(std::vector<MapEntry> entries) {
  for (MapEntry& entry : entries) {
    const std::uint64_t start = entry.range.start;
    entries_.insert_or_assign(start, std::move(entry));
  }
}

const MapEntry* MemoryMap::find(std::uint64_t address) const {
  const auto next = entries_.upper_bound(address);
  if (next == entries_.begin()) return nullptr;
  const MapEntry& entry = std::prev(next)->second;
  return address < entry.range.end ? &entry : nullptr;
}

const MapEntry* MemoryMap::file_before(std::uint64_t address) const {
  const MapEntry* entry = find(address);
  while (entry != nullptr && !entry->is_file()) {
    entry = entry->range.start == 0 ? nullptr : find(entry->range.start - 1);
  }
  return entry;
}

void MemoryMap::add(const MapEntry& entry) {
  const auto next = entries_.lower_bound(entry.range.start);
  if (next != entries_.end() && next->first < entry.range.end) return;
  if (find(entry.range.start) == nullptr) entries_.emplace(entry.range.start, entry);
}

}  // namespace huddle::threads
