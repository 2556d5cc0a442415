// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts this process's descriptors and mappings of other processes, as the kernel lists them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

namespace huddle::team {

// Returns whether the text names the file of an arena, of either kind.
inline bool names_arena(const std::string& text) {
  return text.find("memfd:huddle") != std::string::npos ||
         text.find("/dev/shm/#") != std::string::npos;
}

struct ProcessResources {
  int arenas = 0;     // descriptors of arenas
  int processes = 0;  // descriptors of processes
  int sockets = 0;
  int mappings = 0;  // of arenas

  bool operator==(const ProcessResources&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const ProcessResources& held) {
    return out << held.arenas << " arenas, " << held.processes << " processes, " << held.sockets
               << " sockets, " << held.mappings << " mappings";
  }
};

inline ProcessResources current_resources() {
  ProcessResources now;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry, gone).string();
    now.arenas += names_arena(what);
    now.processes += what.find("pidfd") != std::string::npos || what.ends_with("/stat");
    now.sockets += what.find("socket:") != std::string::npos;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    now.mappings += names_arena(line);
  }
  return now;
}

// Returns the number of files of huddle in the folder of named shared memory.
inline long named_files() {
  const std::filesystem::directory_iterator files("/dev/shm");
  return std::count_if(begin(files), end(files), [](const auto& file) {
    return file.path().filename().string().find("huddle") != std::string::npos;
  });
}

}  // namespace huddle::team
