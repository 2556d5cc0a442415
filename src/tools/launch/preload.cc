// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/preload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view separators = ": \t\n";

constexpr std::string_view heap = "libhuddle_heap.so";

// The stub opens the back end for the program's MPI at the first MPI call and warns if it is
// missing. Back ends are not checked earlier, because a program needs only one of them.
constexpr std::string_view stub_of_collectives = "libhuddle_preload.so";
constexpr std::string_view stub_of_profile = "libhuddle_profile_preload.so";
constexpr std::string_view threads = "libhuddle_threads.so";

// Relative to the program's folder: in an installation, then in a build.
constexpr std::array<std::string_view, 2> preload_folders = {HUDDLE_PRELOAD_FOLDER,
                                                             "../lib/huddle"};

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

std::vector<std::string> files_in(std::string_view list) {
  std::vector<std::string> files;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    if (end > 0) files.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return files;
}

}  // namespace

Library find_library(const std::string& program, Purpose purpose) {
  const std::string_view stub = purpose == Purpose::profile ? stub_of_profile : stub_of_collectives;
  Library library;
  for (const std::string_view folder : preload_folders) {
    library.folder = (fs::path(program).parent_path() / folder).lexically_normal().string();
    if (is_there(fs::path(library.folder) / stub)) break;
  }
  const fs::path own = library.folder;
  library.stub = stub;
  if (is_there(own / stub)) library.preload = (own / stub).string();
  if (purpose == Purpose::collectives && is_there(own / heap)) library.heap = (own / heap).string();
  if (is_there(own / threads)) library.threads = (own / threads).string();
  return library;
}

namespace {

bool contains(const std::vector<std::string>& files, const std::string& file) {
  return std::find(files.begin(), files.end(), file) != files.end();
}

std::string file_name_of(const std::string& file) { return fs::path(file).filename().string(); }

// Returns whether one of `ours` has the name of this file: it is then the same library of another
// installation. Other libraries of huddle stay, such as those of a `huddle profile` that observes
// this command.
bool is_replaced(const std::string& file, const std::vector<std::string>& ours) {
  return std::any_of(ours.begin(), ours.end(), [&file](const std::string& our) {
    return file_name_of(our) == file_name_of(file);
  });
}

std::string in_sequence(std::vector<std::string> files, const std::vector<std::string>& last) {
  std::erase_if(files, [&last](const std::string& file) { return contains(last, file); });
  files.insert(files.end(), last.begin(), last.end());
  return fmt::format("{}", fmt::join(files, ":"));
}

}  // namespace

std::string joined_preload(const std::string& ours, std::string_view theirs) {
  const std::vector<std::string> own = files_in(ours);
  std::vector<std::string> files = files_in(theirs);
  std::erase_if(files, [&own](const std::string& file) { return is_replaced(file, own); });
  return in_sequence(std::move(files), own);
}

std::vector<std::string> replaced_files(const std::string& ours, std::string_view theirs) {
  const std::vector<std::string> own = files_in(ours);
  std::vector<std::string> files = files_in(theirs);
  std::erase_if(files, [&own](const std::string& file) {
    return !is_replaced(file, own) || contains(own, file);
  });
  return files;
}

std::string appended_preload(std::string_view list, const std::string& more) {
  return in_sequence(files_in(list), files_in(more));
}

bool can_be_preloaded(std::string_view path) {
  return path.find_first_of(separators) == std::string_view::npos;
}

}  // namespace huddle::launch
