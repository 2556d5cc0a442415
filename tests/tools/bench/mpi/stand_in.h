// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A folder of scripts that take the place of launchers and jobs.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tools/bench/mpi/mpi_job.h"

namespace huddle::bench {

class StandIn {
 public:
  StandIn() {
    std::string name = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~StandIn() { std::filesystem::remove_all(folder_); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  // Creates a shell script and returns its path.
  std::string script(const std::string& name, const std::string& lines) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << lines;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }
  std::string file(const std::string& name) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "a library\n";
    return path.string();
  }
  std::string folder() const { return folder_.string(); }

  // Creates a job that reports readiness and then answers each order with these commands. The words
  // of the order are $1 to $9.
  Mpi job(const std::string& name, const std::string& answer) const {
    return {.name = name,
            .launcher = {script(name, "echo 'huddle-bench: ready 2 0 " + name +
                                          " 1.0'\nwhile read -r line; do set -- $line\n" + answer +
                                          "\necho 'huddle-bench: done'; done\n")},
            .library = "libmpi.so",
            .abi = "mpich"};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace huddle::bench
