// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/page_sharing.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "placement/threads/data_symbols.h"

namespace huddle::threads {
namespace {

// Limit for the mappings of all processes together: the kernel's usual limit for one process. The
// memory of further processes is counted, but not named.
constexpr std::size_t most_map_entries = 65530;
// A pair with a smaller fraction of the events of a block does not decide which blocks are merged:
// it may be the thread that initialized the memory.
constexpr double least_share_of_block = 0.1;

std::uint64_t space_of(std::uint64_t page) { return page >> page_number_bits; }
std::uint64_t page_in_space(std::uint64_t page) { return page & most_page_number; }

// The events of each pair of threads.
using EventsOfPairs = std::map<std::pair<int, int>, std::uint64_t>;

// Returns the pairs with the most events first.
std::vector<PairEvents> sorted(const EventsOfPairs& events_of) {
  std::vector<PairEvents> pairs;
  for (const auto& [pair, events] : events_of) pairs.push_back({pair.first, pair.second, events});
  std::stable_sort(pairs.begin(), pairs.end(), [](const PairEvents& one, const PairEvents& other) {
    return one.events > other.events;
  });
  return pairs;
}

// The memory of one variable or, without a symbol, one mapping.
struct MemoryObject {
  std::uint64_t space = 0;
  std::uint64_t start = 0;  // of the mapping; 0 if the variable is known
  std::optional<std::string> mapping = {};
  std::vector<std::string> symbols = {};

  bool operator<(const MemoryObject& other) const {
    return std::tie(space, start, mapping, symbols) <
           std::tie(other.space, other.start, other.mapping, other.symbols);
  }
  bool operator==(const MemoryObject& other) const { return !(*this < other) && !(other < *this); }
};

// Finds what an address belongs to.
class ObjectFinder {
 public:
  MemoryObject find(const MemoryMap& map, std::uint64_t space, std::uint64_t lowest,
                    std::uint64_t highest) {
    MemoryObject object{.space = space};
    const MapEntry* const entry = map.find(lowest);
    if (entry == nullptr) return object;
    object.mapping = entry->path;
    object.start = entry->range.start;
    name(map, lowest, object);
    if (is_same_file(map.file_before(lowest), map.file_before(highest))) {
      name(map, highest, object);
    }
    if (!object.symbols.empty()) object.start = 0;
    return object;
  }

 private:
  static bool is_same_file(const MapEntry* one, const MapEntry* other) {
    return one != nullptr && other != nullptr && one->path == other->path &&
           one->inode == other->inode;
  }

  // Adds the variable that contains the address, and the file if it defines the memory.
  void name(const MemoryMap& map, std::uint64_t address, MemoryObject& object) {
    const MapEntry* const file = map.file_before(address);
    if (file == nullptr) return;
    const std::optional<DataSymbols>& symbols = symbols_of(*file);
    const auto start =
        symbols ? symbols->address_of(file->offset, file->is_writable) : std::nullopt;
    if (!start || !symbols->contains(*start + address - file->range.start)) return;
    object.mapping = file->path;
    std::string symbol = symbols->name_at(*start + address - file->range.start);
    const bool is_new = object.symbols.empty() || object.symbols.back() != symbol;
    if (!symbol.empty() && is_new) object.symbols.push_back(std::move(symbol));
  }

  const std::optional<DataSymbols>& symbols_of(const MapEntry& file) {
    const auto [found, is_new] = files_.try_emplace({file.path, file.inode});
    if (is_new) found->second = DataSymbols::read(file.path, file.inode);
    return found->second;
  }

  std::map<std::pair<std::string, std::uint64_t>, std::optional<DataSymbols>> files_;
};

}  // namespace

// Collects the blocks in the order of their addresses, and merges neighbours.
class PageSharing::Report {
 public:
  Report(const PageSharing& sharing, std::span<const int> threads)
      : sharing_(sharing), is_wanted_(most_threads, false) {
    for (const int thread : threads) is_wanted_[static_cast<std::size_t>(thread)] = true;
  }

  SharedMemory result() {
    for (const auto& [page, block] : sharing_.blocks_) take(page, block);
    merge_objects();
    SharedMemory memory;
    for (const Part& part : parts_) memory.events += part.range.events;
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& one, const Part& other) {
      return one.range.events > other.range.events;
    });
    if (parts_.size() > most_ranges) parts_.resize(most_ranges);
    for (Part& part : parts_) memory.ranges.push_back(finished(std::move(part)));
    return memory;
  }

 private:
  using Pairs = std::vector<std::pair<int, int>>;
  struct Part {
    MemoryObject object;
    std::uint64_t last_page = 0;  // the number of its last block
    Pairs decisive;               // pairs with at least least_share_of_block
    EventsOfPairs pairs;
    SharedRange range;  // without pairs
  };

  static SharedRange finished(Part part) {
    part.range.pairs = sorted(part.pairs);
    part.range.mapping = std::move(part.object.mapping);
    part.range.symbols = std::move(part.object.symbols);
    return std::move(part.range);
  }

  void take(std::uint64_t page, const Block& block) {
    Part part;
    part.last_page = page;
    part.pairs = wanted_pairs(block);
    part.range = range_of(block, part.pairs);
    if (part.range.events == 0) return;
    const double least = least_share_of_block * static_cast<double>(part.range.events);
    for (const auto& [pair, events] : part.pairs) {
      if (static_cast<double>(events) >= least) part.decisive.push_back(pair);
    }
    part.object = object_of(page, block);
    if (!parts_.empty() && continues(parts_.back(), part)) {
      merge(parts_.back(), part);
    } else {
      parts_.push_back(std::move(part));
    }
  }

  // Pages between two blocks belong to the same object only if their mapping is known.
  bool continues(const Part& before, const Part& part) const {
    const std::uint64_t pages_a_block = std::uint64_t{1} << sharing_.shift_;
    return before.object == part.object && before.decisive == part.decisive &&
           (part.object.mapping || before.last_page + pages_a_block == part.last_page);
  }

  EventsOfPairs wanted_pairs(const Block& block) const {
    EventsOfPairs pairs;
    for (const Pair& pair : block.pairs) {
      if (pair.events == 0 || !is_wanted(pair.a) || !is_wanted(pair.b)) continue;
      pairs[{pair.a, pair.b}] += pair.events;
    }
    return pairs;
  }
  bool is_wanted(int thread) const { return is_wanted_[static_cast<std::size_t>(thread)]; }

  SharedRange range_of(const Block& block, const EventsOfPairs& pairs) const {
    const std::uint64_t bytes = sharing_.page_bytes_;
    return {.addresses = {block.lowest / bytes * bytes, (block.highest / bytes + 1) * bytes},
            .events = wanted_events(block, pairs)};
  }

  // Assumes that as large a share of the other events as of the listed ones is between the wanted
  // threads. If no pair is listed, counts all.
  static std::uint64_t wanted_events(const Block& block, const EventsOfPairs& pairs) {
    std::uint64_t listed = 0, wanted = 0;
    for (const Pair& pair : block.pairs) listed += pair.events;
    for (const auto& [pair, events] : pairs) wanted += events;
    if (listed == 0) return block.others;
    const double share = static_cast<double>(wanted) / static_cast<double>(listed);
    const double others = share * static_cast<double>(block.others);
    return wanted + static_cast<std::uint64_t>(std::llround(others));
  }

  MemoryObject object_of(std::uint64_t page, const Block& block) {
    const std::uint64_t space = space_of(page);
    const auto process = sharing_.processes_.find(space);
    if (process == sharing_.processes_.end()) return {.space = space};
    return finder_.find(process->second.map, space, block.lowest, block.highest);
  }

  static void merge(Part& into, const Part& more) {
    into.range.addresses.start = std::min(into.range.addresses.start, more.range.addresses.start);
    into.range.addresses.end = std::max(into.range.addresses.end, more.range.addresses.end);
    into.range.events += more.range.events;
    into.last_page = more.last_page;
    for (const auto& [pair, events] : more.pairs) into.pairs[pair] += events;
  }

  // An object of more parts than can be listed becomes one part, because its pages do not belong to
  // few groups of threads, or have too few events to tell. Memory without a known mapping is no
  // object.
  void merge_objects() {
    std::map<MemoryObject, std::size_t> parts_of;
    for (const Part& part : parts_) ++parts_of[part.object];
    std::map<MemoryObject, std::size_t> places;
    std::vector<Part> merged;
    for (Part& part : parts_) {
      const bool is_split = part.object.mapping && parts_of[part.object] > most_ranges;
      const auto [place, is_new] = places.try_emplace(part.object, merged.size());
      if (is_split && !is_new) {
        merge(merged[place->second], part);
      } else {
        merged.push_back(std::move(part));
      }
    }
    parts_ = std::move(merged);
  }

  const PageSharing& sharing_;
  std::vector<bool> is_wanted_;  // by thread
  ObjectFinder finder_;
  std::vector<Part> parts_;
};

PageSharing::PageSharing(System system, std::size_t most_blocks)
    : system_(std::move(system)),
      most_blocks_(most_blocks),
      page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {}

std::uint64_t PageSharing::address_of(const Touch& touch) const {
  return page_in_space(touch.page) * page_bytes_ + touch.offset;
}

void PageSharing::take(const Touch& touch, std::span<const int> partners) {
  Process& process = process_of(touch);
  process.has_threads |= touch.thread != process.first_thread || !partners.empty();
  if (process.has_threads) read_map(process, touch);
  if (partners.empty()) return;
  const std::uint64_t address = address_of(touch);
  Block& block = blocks_.try_emplace(touch.page >> shift_ << shift_, Block{address, address, {}, 0})
                     .first->second;
  block.lowest = std::min(block.lowest, address);
  block.highest = std::max(block.highest, address);
  for (const int partner : partners) {
    const auto [a, b] = std::minmax(touch.thread, partner);
    count(block, {static_cast<std::int16_t>(a), static_cast<std::int16_t>(b), 1});
  }
  while (blocks_.size() > most_blocks_) double_blocks();
}

void PageSharing::take(const Look& look) {
  for (auto& [space, process] : processes_) process.may_read = !process.is_refused;
  if (!look.reused.empty()) forget(look.reused);
}

// The other events of a block remain, because their threads are not known.
void PageSharing::forget(std::span<const int> threads) {
  std::vector<bool> is_forgotten(most_threads, false);
  for (const int thread : threads) is_forgotten[static_cast<std::size_t>(thread)] = true;
  for (auto& [page, block] : blocks_) {
    for (Pair& pair : block.pairs) {
      if (pair.events == 0) continue;
      const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
      if (is_forgotten[a] || is_forgotten[b]) pair = {};
    }
  }
  std::erase_if(blocks_, [](const auto& one) {
    const auto has_events = [](const Pair& pair) { return pair.events > 0; };
    const Block& block = one.second;
    return block.others == 0 && std::none_of(block.pairs.begin(), block.pairs.end(), has_events);
  });
}

// If there are too many pairs, moves events of each to the others (Misra and Gries), so that the
// most frequent pairs remain.
void PageSharing::count(Block& block, Pair pair) {
  const auto same = std::find_if(block.pairs.begin(), block.pairs.end(), [&pair](const Pair& one) {
    return one.events > 0 && one.a == pair.a && one.b == pair.b;
  });
  const auto least = std::min_element(
      block.pairs.begin(), block.pairs.end(),
      [](const Pair& one, const Pair& other) { return one.events < other.events; });
  if (same != block.pairs.end()) {
    same->events += pair.events;
  } else if (least->events == 0) {
    *least = pair;
  } else {
    const std::uint32_t removed = std::min(least->events, pair.events);
    for (Pair& one : block.pairs) one.events -= removed;
    block.others += removed * (block.pairs.size() + 1);
    pair.events -= removed;
    if (pair.events > 0) count(block, pair);
  }
}

PageSharing::Process& PageSharing::process_of(const Touch& touch) {
  const Process fresh{.number = touch.process, .first_thread = touch.thread};
  Process& process = processes_.try_emplace(space_of(touch.page), fresh).first->second;
  if (process.number != touch.process) {  // the identifiers have wrapped around
    map_entries_ -= process.map.size();
    process = fresh;
  }
  return process;
}

void PageSharing::read_map(Process& process, const Touch& touch) {
  if (!process.may_read || process.map.find(address_of(touch)) != nullptr) return;
  process.may_read = false;
  MemoryMap map(map_entries(system_.lines(fmt::format("/proc/{}/maps", process.number))));
  if (map.size() == 0) return;  // the process has ended
  keep_used(process.map, space_of(touch.page), map);
  process.is_refused = map_entries_ - process.map.size() + map.size() > most_map_entries;
  if (process.is_refused) return;
  map_entries_ = map_entries_ - process.map.size() + map.size();
  process.map = std::move(map);
}

// Adds the mappings that the process has removed since, but that contain counted pages.
void PageSharing::keep_used(const MemoryMap& old, std::uint64_t space, MemoryMap& map) const {
  const auto end = blocks_.upper_bound((space << page_number_bits) + most_page_number);
  for (auto one = blocks_.lower_bound(space << page_number_bits); one != end; ++one) {
    const MapEntry* const entry = old.find(one->second.lowest);
    if (entry != nullptr && map.find(one->second.lowest) == nullptr) map.add(*entry);
  }
}

void PageSharing::double_blocks() {
  ++shift_;
  std::map<std::uint64_t, Block> before = std::exchange(blocks_, {});
  for (const auto& [page, block] : before) {
    const auto [found, is_new] = blocks_.try_emplace(page >> shift_ << shift_, block);
    if (is_new) continue;
    Block& into = found->second;
    into.lowest = std::min(into.lowest, block.lowest);
    into.highest = std::max(into.highest, block.highest);
    into.others += block.others;
    for (const Pair& pair : block.pairs) {
      if (pair.events > 0) count(into, pair);
    }
  }
}

SharedMemory PageSharing::memory_of(std::span<const int> threads) const {
  return Report(*this, threads).result();
}

}  // namespace huddle::threads
