// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The variables of a program or library, from the symbol tables of its ELF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/protection.h"

namespace huddle::threads {

// Addresses are those of the file, which differ from those in a process by a constant.
class DataSymbols {
 public:
  // Reads the file. Returns nothing if it is not a regular file that can be read, or not a valid
  // ELF file with 64-bit addresses in the byte order of this machine. Also returns nothing if it
  // has another inode: it may have been replaced, or the path may be that of another root folder.
  static std::optional<DataSymbols> read(const std::string& path, std::uint64_t inode);

  // Returns the address of the first byte of a mapping, for example of a line of /proc/PID/maps,
  // that belongs to a writable segment. Returns nothing if no writable segment contains the
  // mapping's offset in the file. If two segments share a page of the file, the first one contains
  // the data that become read-only after relocation.
  std::optional<std::uint64_t> address_of(std::uint64_t offset, bool is_writable) const;
  // Returns whether a writable segment contains the address.
  bool contains(std::uint64_t address) const;
  // Returns the demangled name of the variable that contains the address, or an empty string.
  std::string name_at(std::uint64_t address) const;

 private:
  struct Segment {
    AddressRange addresses, offsets;  // offsets: in the file
  };
  struct Symbol {
    AddressRange addresses;
    std::string name;  // mangled
  };
  static bool has_page(const Segment& segment, std::uint64_t offset);
  void finish();

  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // by address, without overlaps
};

}  // namespace huddle::threads
