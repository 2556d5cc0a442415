// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/launch/inspect.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/other_processes.h"

namespace huddle::launch {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);
using Address = ElfW(Addr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

// Far more than any program has; a damaged file must not cause long reads.
constexpr std::size_t most_segments = 1024;
constexpr std::size_t most_sections = 4096;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

class File {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary) {}

  // Returns up to `bytes` bytes from `offset`; fewer at the end of the file.
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

// Returns the offset in the file of an address in the loaded program; 0 if it is not in the file.
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

// Reads small parts into the same memory, which takes less time than mapping memory for the whole
// file. The parts overlap, so that a text at the end of one is found.
bool has_text(const std::string& path, std::string_view text) {
  constexpr std::size_t part_bytes = std::size_t{32} << 10;
  File file(path);
  for (std::size_t offset = 0; offset < most_bytes; offset += part_bytes - text.size()) {
    const std::string part = file.bytes_at(offset, part_bytes);
    if (part.find(text) != std::string::npos) return true;
    if (part.size() < part_bytes) return false;
  }
  return false;
}

bool names_symbol(const Elf& elf, std::string_view symbol) {
  const std::string between = '\0' + std::string(symbol) + '\0';
  return elf.symbols.find(between) != std::string::npos;
}

namespace {

// The loader only maps files, which takes a while on a slow network file system.
constexpr std::chrono::milliseconds loader_patience{5000};

// Functions with which a program opens a library later, or becomes or starts another program.
constexpr std::array<std::string_view, 2> ways_to_open = {"dlopen", "dlmopen"};
constexpr std::array<std::string_view, 12> ways_to_start = {
    "system", "execve", "execv",   "execvp", "execvpe",     "execl",
    "execlp", "execle", "fexecve", "popen",  "posix_spawn", "posix_spawnp"};

// Libraries that call dlopen for their own purposes, which is no sign of an MPI.
constexpr std::array<std::string_view, 5> harmless = {"libc.so", "ld-linux", "libdl.so",
                                                      "libgomp.so", "libgfortran.so"};

bool is_mpi_library(std::string_view name) { return name.starts_with("libmpi"); }

template <std::size_t size>
bool names_any(const Elf& elf, const std::array<std::string_view, size>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&elf](std::string_view name) { return names_symbol(elf, name); });
}

bool is_harmless(const std::string& library) {
  return std::any_of(harmless.begin(), harmless.end(),
                     [&library](std::string_view name) { return library.starts_with(name); });
}

// Returns the paths of all libraries that the loader would load for the program; none if the loader
// does not list them.
std::optional<std::vector<std::string>> loaded_by(const std::string& interpreter,
                                                  const std::string& path) {
  const auto output = run_program({interpreter, "--list", path}, loader_patience);
  if (!output || output->too_slow) return std::nullopt;
  std::vector<std::string> libraries;
  std::istringstream lines(output->text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, file;
    words >> name >> arrow >> file;
    if (file == "not") return std::nullopt;  // "=> not found": the program cannot start either
    if (arrow == "=>" && !file.empty()) libraries.push_back(file);
    // A library that was linked by its path is listed without an arrow.
    if (arrow != "=>" && name.find('/') != std::string::npos) libraries.push_back(name);
  }
  if (libraries.empty()) return std::nullopt;
  return libraries;
}

// Tools that are linked into a program define MPI_X but not PMPI_X, which only an MPI defines.
bool has_inner_mpi(const Elf& program, const std::string& path) {
  const bool loads_one = std::any_of(program.needed.begin(), program.needed.end(), is_mpi_library);
  return !loads_one && defines_symbol(path, "PMPI_Init");
}

// Returns false only if the program certainly does not use MPI, because that causes a warning.
bool may_use_mpi(const Elf& program, const std::string& path) {
  if (std::any_of(program.needed.begin(), program.needed.end(), is_mpi_library)) return true;
  if (names_any(program, ways_to_open) || names_any(program, ways_to_start)) return true;
  const auto libraries = loaded_by(program.interpreter, path);
  if (!libraries) return true;
  return std::any_of(libraries->begin(), libraries->end(), [](const std::string& file) {
    const std::string name = std::filesystem::path(file).filename().string();
    if (is_mpi_library(name)) return true;
    const auto library = is_harmless(name) ? std::nullopt : read_elf(file);
    return library && (names_symbol(*library, "dlopen") || names_any(*library, ways_to_start));
  });
}

// Returns whether the kernel makes the loader ignore the user's environment.
bool gains_rights(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid()) return true;
  return ::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

Obstacle obstacle_in(const std::string& path) {
  if (gains_rights(path)) return Obstacle::privileged;
  const auto elf = read_elf(path);
  if (!elf) return Obstacle::none;
  if (!elf->like_us) return Obstacle::other_machine;
  if (elf->interpreter.empty()) return Obstacle::linked_static;
  if (has_inner_mpi(*elf, path)) return Obstacle::inner_mpi;
  return may_use_mpi(*elf, path) ? Obstacle::none : Obstacle::no_mpi;
}

bool may_start_others(const std::string& path) {
  const auto elf = read_elf(path);
  return !elf || names_any(*elf, ways_to_start);
}

std::string sentence(Obstacle obstacle, const std::string& path) {
  switch (obstacle) {
    case Obstacle::linked_static:
      return fmt::format(
          "{} is statically linked, so no library can be preloaded: it runs without huddle", path);
    case Obstacle::inner_mpi:
      return fmt::format(
          "{} contains its MPI (a static libmpi.a), so no library can be preloaded between the "
          "two: it runs without huddle; link it with the shared library of the MPI",
          path);
    case Obstacle::other_machine:
      return fmt::format(
          "{} was built for another architecture or word size than huddle: it runs without huddle",
          path);
    case Obstacle::privileged:
      return fmt::format(
          "{} has special privileges (setuid or capabilities), so the loader preloads no library: "
          "it runs without huddle",
          path);
    case Obstacle::no_mpi:
      return fmt::format("{} loads no MPI library, so huddle has no effect on it", path);
    case Obstacle::none:
      break;
  }
  return {};
}

}  // namespace huddle::launch
