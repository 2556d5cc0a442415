// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/data_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "common/file.h"

namespace huddle::threads {
namespace {

// Variables with longer names are left out.
constexpr std::size_t most_name_bytes = 4096;

// Reads tables from an ELF file.
class ElfFile {
 public:
  // O_NONBLOCK: a path may name a pipe.
  ElfFile(const std::string& path, std::uint64_t inode)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (status.st_ino != inode) return;
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    const std::vector<Elf64_Ehdr> headers = table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (!headers.empty() && is_supported(headers.front())) header_ = headers.front();
  }

  bool is_valid() const { return header_.has_value(); }
  std::vector<Elf64_Phdr> segments() const {
    return table<Elf64_Phdr>(header_->e_phoff, header_->e_phnum * sizeof(Elf64_Phdr));
  }
  std::vector<Elf64_Shdr> sections() const {
    return table<Elf64_Shdr>(header_->e_shoff, header_->e_shnum * sizeof(Elf64_Shdr));
  }
  // Returns the entries of a table. Returns none if it exceeds the file or most_file_bytes.
  template <typename Entry>
  std::vector<Entry> table(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes > most_file_bytes || offset > bytes_ || bytes > bytes_ - offset) return {};
    std::vector<Entry> entries(bytes / sizeof(Entry));
    const std::size_t wanted = entries.size() * sizeof(Entry);
    const ssize_t got = uninterrupted([&] {
      return ::pread(file_.number(), entries.data(), wanted, static_cast<off_t>(offset));
    });
    if (got != static_cast<ssize_t>(wanted)) entries.clear();
    return entries;
  }

 private:
  static bool is_supported(const Elf64_Ehdr& header) {
    constexpr auto order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == order &&
           header.e_phentsize == sizeof(Elf64_Phdr) &&
           (header.e_shnum == 0 || header.e_shentsize == sizeof(Elf64_Shdr));
  }

  FileDescriptor file_;
  std::uint64_t bytes_ = 0;
  std::optional<Elf64_Ehdr> header_;
};

bool is_variable(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
         symbol.st_size > 0 && symbol.st_value + symbol.st_size > symbol.st_value;
}

// `names`: a string table. Returns an empty string if the name has no end.
std::string name_in(const std::vector<char>& names, std::uint32_t offset) {
  if (offset >= names.size()) return {};
  const char* const start = names.data() + offset;
  const std::size_t most = std::min(names.size() - offset, most_name_bytes);
  const std::size_t bytes = ::strnlen(start, most);
  return bytes == most ? std::string() : std::string(start, bytes);
}

struct Variable {
  Elf64_Sym symbol;
  std::string name;
};

// Returns the variables of the first symbol table of that type.
std::vector<Variable> variables_of(const ElfFile& file, std::uint32_t type) {
  const std::vector<Elf64_Shdr> sections = file.sections();
  const auto table = std::find_if(sections.begin(), sections.end(),
                                  [type](const Elf64_Shdr& one) { return one.sh_type == type; });
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const Elf64_Shdr& strings = sections[table->sh_link];
  const std::vector<char> names = file.table<char>(strings.sh_offset, strings.sh_size);
  std::vector<Variable> variables;
  for (const Elf64_Sym& one : file.table<Elf64_Sym>(table->sh_offset, table->sh_size)) {
    if (is_variable(one)) variables.push_back({one, name_in(names, one.st_name)});
  }
  return variables;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

bool is_in(const AddressRange& range, std::uint64_t address) {
  return address >= range.start && address < range.end;
}

}  // namespace

std::optional<DataSymbols> DataSymbols::read(const std::string& path, std::uint64_t inode) {
  const ElfFile file(path, inode);
  if (!file.is_valid()) return std::nullopt;
  DataSymbols data;
  for (const Elf64_Phdr& one : file.segments()) {
    if (one.p_type != PT_LOAD || (one.p_flags & PF_W) == 0) continue;
    data.segments_.push_back(
        {{one.p_vaddr, one.p_vaddr + one.p_memsz}, {one.p_offset, one.p_offset + one.p_filesz}});
  }
  // A valid file contains at most one table of each type.
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const auto& [symbol, name] : variables_of(file, type)) {
      data.symbols_.push_back({{symbol.st_value, symbol.st_value + symbol.st_size}, name});
    }
  }
  data.finish();
  return data;
}

// Sorts the symbols. If several overlap, keeps the one that begins first, or the largest one.
void DataSymbols::finish() {
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::pair(a.addresses.start, ~a.addresses.end) <
           std::pair(b.addresses.start, ~b.addresses.end);
  });
  std::uint64_t end = 0;
  std::erase_if(symbols_, [&end](const Symbol& one) {
    const bool overlaps = one.addresses.start < end;
    end = std::max(end, one.addresses.end);
    return overlaps || one.name.empty();
  });
}

// The kernel maps whole pages, so a mapping may begin in the file before its segment.
bool DataSymbols::has_page(const Segment& segment, std::uint64_t offset) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return is_in({segment.offsets.start / page_bytes * page_bytes, segment.offsets.end}, offset);
}

std::optional<std::uint64_t> DataSymbols::address_of(std::uint64_t offset, bool is_writable) const {
  const Segment* found = nullptr;
  for (const Segment& one : segments_) {
    if (has_page(one, offset) && (found == nullptr || is_writable)) found = &one;
  }
  if (found == nullptr) return std::nullopt;
  return found->addresses.start - found->offsets.start + offset;
}

bool DataSymbols::contains(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [address](const Segment& one) { return is_in(one.addresses, address); });
}

std::string DataSymbols::name_at(std::uint64_t address) const {
  const auto next =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t a, const Symbol& one) { return a < one.addresses.start; });
  if (next == symbols_.begin() || !is_in((next - 1)->addresses, address)) return {};
  return demangled((next - 1)->name);
}

}  // namespace huddle::threads
