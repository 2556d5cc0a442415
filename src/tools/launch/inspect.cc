// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/inspect.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/run_program.h"
#include "tools/launch/elf.h"

namespace huddle::launch {
namespace {

// The loader only maps files; on a slow network file system that takes a while.
constexpr std::chrono::milliseconds loader_patience{5000};

// What a program calls to open a library late, and to become or start another program.
constexpr std::array<std::string_view, 2> ways_to_open = {"dlopen", "dlmopen"};
constexpr std::array<std::string_view, 12> ways_to_start = {
    "system", "execve", "execv",   "execvp", "execvpe",     "execl",
    "execlp", "execle", "fexecve", "popen",  "posix_spawn", "posix_spawnp"};

// Runtimes that open libraries for purposes of their own.
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

// All that the loader would load for the program, as paths; nothing where it does not say.
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
    if (file == "not") return std::nullopt;  // "=> not found": it will not start either
    if (arrow == "=>" && !file.empty()) libraries.push_back(file);
    // What is linked by a path has no other name.
    if (arrow != "=>" && name.find('/') != std::string::npos) libraries.push_back(name);
  }
  if (libraries.empty()) return std::nullopt;
  return libraries;
}

// Tools that are linked into a program have MPI_X of their own, but not PMPI_X: that is the MPI's.
bool has_inner_mpi(const Elf& program, const std::string& path) {
  const bool loads_one = std::any_of(program.needed.begin(), program.needed.end(), is_mpi_library);
  return !loads_one && defines_symbol(path, "PMPI_Init");
}

// What is meant to be told is that a program has no MPI: so every doubt counts as one.
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

// Whether the kernel will tell the loader to trust nothing that the user has set.
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
          "{} is linked statically: nothing can be preloaded, and it runs without huddle", path);
    case Obstacle::inner_mpi:
      return fmt::format(
          "{} has its MPI linked into it (a libmpi.a): nothing can be preloaded between the two, "
          "and it runs without huddle; link it with the shared library",
          path);
    case Obstacle::other_machine:
      return fmt::format(
          "{} is built for another processor or word size than huddle: it runs without huddle",
          path);
    case Obstacle::privileged:
      return fmt::format(
          "{} runs with rights of its own, so that the loader preloads nothing: it runs without "
          "huddle",
          path);
    case Obstacle::no_mpi:
      return fmt::format("{} loads no MPI library: it runs, and there is nothing for huddle to do",
                         path);
    case Obstacle::none:
      break;
  }
  return {};
}

}  // namespace huddle::launch
