// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The mappings of a process, as listed in /proc/PID/maps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/protection.h"

namespace huddle::threads {

// A line of /proc/PID/maps.
struct MapEntry {
  AddressRange range;
  bool is_writable = false;
  std::uint64_t offset = 0;  // of the first byte in the file
  std::string path = {};     // a file, "[heap]" or "[stack]"; empty for anonymous memory
  std::uint64_t inode = 0;   // of the file

  bool is_file() const { return path.starts_with('/'); }
  bool operator==(const MapEntry&) const = default;
};

// Returns the valid lines. `maps`: the lines of /proc/PID/maps.
std::vector<MapEntry> map_entries(const std::vector<std::string>& maps);

// The mappings of a process, ordered by address.
class MemoryMap {
 public:
  MemoryMap() = default;
  explicit MemoryMap(std::vector<MapEntry> entries);

  // Returns the mapping that contains the address; null if there is none. Valid until the map
  // changes.
  const MapEntry* find(std::uint64_t address) const;
  // Returns the mapping of a file from whose segment the address may come: the mapping that
  // contains the address, or the last mapping of a file before it, if only anonymous memory without
  // gaps lies between them. The zero-initialized variables of a file are in such memory. Returns
  // null if there is none.
  const MapEntry* file_before(std::uint64_t address) const;
  // Adds a mapping unless it overlaps another one.
  void add(const MapEntry& entry);
  std::size_t size() const { return entries_.size(); }

 private:
  std::map<std::uint64_t, MapEntry> entries_;  // by start
};

}  // namespace huddle::threads
