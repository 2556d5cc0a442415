// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/elf.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace huddle::launch {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);
using Address = ElfW(Addr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

// Far more than any program has; a damaged file must not make us read for long.
constexpr std::size_t most_segments = 1024;
constexpr std::size_t most_sections = 4096;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

class File {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary) {}

  // Up to `bytes` bytes from there; fewer where the file ends.
  std::string bytes_at(std::size_t offset, std::size_t bytes) {
    std::string text(std::min(bytes, most_bytes), '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream_.gcount(), 0)));
    return text;
  }
  template <typename T>
  std::vector<T> records_at(std::size_t offset, std::size_t count) {
    const std::string text = bytes_at(offset, count * sizeof(T));
    std::vector<T> records(text.size() / sizeof(T));
    if (!records.empty()) std::memcpy(records.data(), text.data(), records.size() * sizeof(T));
    return records;
  }

 private:
  std::ifstream stream_;
};

const Header& own_header() {
  static const Header header = [] {
    const auto headers = File("/proc/self/exe").records_at<Header>(0, 1);
    return headers.empty() ? Header{} : headers.front();
  }();
  return header;
}

bool is_elf(const Header& header) {
  return std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG);
}

bool like_us(const Header& header) {
  const Header& own = own_header();
  return header.e_ident[EI_CLASS] == own.e_ident[EI_CLASS] &&
         header.e_ident[EI_DATA] == own.e_ident[EI_DATA] && header.e_machine == own.e_machine;
}

// Where an address of the running program lies in the file; 0 where nowhere.
std::size_t offset_of(Address address, const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  return 0;
}

Address value_of(const std::vector<Entry>& entries, ElfW(Sxword) tag) {
  for (const Entry& entry : entries) {
    if (entry.d_tag == tag) return entry.d_un.d_ptr;
  }
  return 0;
}

void read_dynamic(Elf& elf, File& file, const std::vector<Entry>& entries,
                  const std::vector<Segment>& segments) {
  const std::size_t at = offset_of(value_of(entries, DT_STRTAB), segments);
  if (at == 0) return;
  elf.symbols = file.bytes_at(at, value_of(entries, DT_STRSZ)) + '\0';
  for (const Entry& entry : entries) {
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < elf.symbols.size()) {
      elf.needed.emplace_back(elf.symbols.c_str() + entry.d_un.d_val);
    }
  }
}

bool is_named(const std::string& names, std::size_t at, std::string_view name) {
  return at < names.size() && names.compare(at, name.size(), name) == 0 &&
         (at + name.size() == names.size() || names[at + name.size()] == '\0');
}

bool table_defines(File& file, const Section& table, const Section& strings,
                   std::string_view symbol) {
  const std::string names = file.bytes_at(strings.sh_offset, strings.sh_size);
  const auto symbols = file.records_at<Symbol>(table.sh_offset, table.sh_size / sizeof(Symbol));
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& entry) {
    return entry.st_shndx != SHN_UNDEF && is_named(names, entry.st_name, symbol);
  });
}

}  // namespace

std::optional<Elf> read_elf(const std::string& path) {
  File file(path);
  const auto headers = file.records_at<Header>(0, 1);
  if (headers.empty() || !is_elf(headers.front())) return std::nullopt;
  const Header& header = headers.front();
  Elf elf{.like_us = like_us(header)};
  if (!elf.like_us || header.e_phentsize != sizeof(Segment)) return elf;
  const auto segments = file.records_at<Segment>(
      header.e_phoff, std::min<std::size_t>(header.e_phnum, most_segments));
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_INTERP) {
      const std::string text = file.bytes_at(segment.p_offset, segment.p_filesz);
      elf.interpreter = text.substr(0, text.find('\0'));
    }
    if (segment.p_type == PT_DYNAMIC) {
      const std::size_t count = segment.p_filesz / sizeof(Entry);
      read_dynamic(elf, file, file.records_at<Entry>(segment.p_offset, count), segments);
    }
  }
  return elf;
}

bool defines_symbol(const std::string& path, std::string_view symbol) {
  File file(path);
  const auto headers = file.records_at<Header>(0, 1);
  if (headers.empty() || !is_elf(headers.front()) || !like_us(headers.front())) return false;
  const Header& header = headers.front();
  if (header.e_shentsize != sizeof(Section)) return false;
  const auto sections = file.records_at<Section>(
      header.e_shoff, std::min<std::size_t>(header.e_shnum, most_sections));
  return std::any_of(sections.begin(), sections.end(), [&](const Section& section) {
    const bool has_symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    return has_symbols && section.sh_link < sections.size() &&
           table_defines(file, section, sections[section.sh_link], symbol);
  });
}

bool names_symbol(const Elf& elf, std::string_view symbol) {
  const std::string between = '\0' + std::string(symbol) + '\0';
  return elf.symbols.find(between) != std::string::npos;
}

}  // namespace huddle::launch
