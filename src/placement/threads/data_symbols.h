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
  // ELF file with 64-bit addresses in the byte order of this machine.
  static std::optional<DataSymbols> read(const std::string& path);

  // Returns the address of a byte of the file in its writable segments. `offset`: at the start of a
  // page. Returns nothing if no writable segment contains it.
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
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
  void finish();

  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // by address, without overlaps
};

}  // namespace huddle::threads
