// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Composes small ELF files with segments and symbol tables, but without code.
#pragma once

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace huddle::threads {

struct ElfVariable {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// A symbol table of type SHT_SYMTAB or SHT_DYNSYM.
struct ElfTable {
  std::uint32_t type = SHT_SYMTAB;
  std::vector<ElfVariable> variables;
};

// Returns a writable segment with addresses that are `distance` above its offsets in the file.
inline Elf64_Phdr writable_segment(std::uint64_t offset, std::uint64_t file_bytes,
                                   std::uint64_t memory_bytes, std::uint64_t distance) {
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_W;
  segment.p_offset = offset;
  segment.p_vaddr = offset + distance;
  segment.p_filesz = file_bytes;
  segment.p_memsz = memory_bytes;
  return segment;
}

template <typename Entry>
std::string bytes_of(const Entry& entry) {
  std::string bytes(sizeof(Entry), '\0');
  std::memcpy(bytes.data(), &entry, sizeof(Entry));
  return bytes;
}

inline Elf64_Ehdr elf_header(std::size_t segments, std::size_t sections) {
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, std::begin(header.e_ident));
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections);
  header.e_shoff = header.e_phoff + segments * sizeof(Elf64_Phdr);
  return header;
}

// Returns the contents of the file. The names of the variables are at its end.
inline std::string elf_file(const std::vector<Elf64_Phdr>& segments,
                            const std::vector<ElfTable>& tables) {
  const Elf64_Ehdr header = elf_header(segments.size(), tables.size() + 1);
  const std::size_t start = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
  std::string sections, symbols, names(1, '\0');
  for (const ElfTable& table : tables) {
    Elf64_Shdr section{};
    section.sh_type = table.type;
    section.sh_offset = start + symbols.size();
    section.sh_size = table.variables.size() * sizeof(Elf64_Sym);
    section.sh_link = static_cast<Elf64_Word>(tables.size());
    sections += bytes_of(section);
    for (const ElfVariable& variable : table.variables) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<Elf64_Word>(names.size());
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      symbol.st_shndx = SHN_ABS;
      symbol.st_value = variable.address;
      symbol.st_size = variable.bytes;
      symbols += bytes_of(symbol);
      names += variable.name + '\0';
    }
  }
  Elf64_Shdr strings{};
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = start + symbols.size();
  strings.sh_size = names.size();
  sections += bytes_of(strings);
  std::string file = bytes_of(header);
  for (const Elf64_Phdr& segment : segments) file += bytes_of(segment);
  return file + sections + symbols + names;
}

}  // namespace huddle::threads
