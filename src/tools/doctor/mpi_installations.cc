// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/mpi_installations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "common/other_processes.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

constexpr std::string_view mpi_group = "MPI";

// A launcher on a slow network file system needs a second or two to print its version.
constexpr std::chrono::milliseconds launcher_patience{5000};

constexpr std::array<std::string_view, 9> launcher_names = {
    "mpirun",          "mpiexec",      "mpirun.openmpi",
    "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich",
    "mpiexec.hydra",   "mpirun_rsh",   "srun"};

// Runs a launcher with --version. Some launchers are scripts that start programs of their own
// folder by name, so that folder precedes all others in PATH.
Launcher ask(const std::string& path, const std::vector<std::string>& folders,
             std::chrono::milliseconds wait) {
  Launcher launcher{.path = path};
  const std::string own_folder = std::filesystem::path(path).parent_path().string();
  const std::string search_path = fmt::format("PATH={}:{}", own_folder, fmt::join(folders, ":"));
  const auto output = run_program({"/usr/bin/env", search_path, path, "--version"}, wait);
  if (!output) return launcher;
  launcher.too_slow = output->too_slow;
  launcher.version = parse_mpi_version(output->text);
  return launcher;
}

// "mpirun" and "mpiexec" of one folder with the same version are one MPI.
bool same_mpi(const Launcher& a, const Launcher& b) {
  const auto folder = [](const Launcher& launcher) {
    return std::filesystem::path(launcher.path).parent_path();
  };
  return a.version && a.version == b.version && folder(a) == folder(b);
}

void add_unless_known(std::vector<Launcher>& launchers, Launcher launcher) {
  const bool known = std::any_of(launchers.begin(), launchers.end(),
                                 [&](const Launcher& other) { return same_mpi(other, launcher); });
  if (!known) launchers.push_back(std::move(launcher));
}

bool is_mpi(const Launcher& launcher) {
  return launcher.version && launcher.version->family != "Slurm";
}

std::string launcher_text(const Launcher& launcher) {
  if (launcher.version) {
    return fmt::format("{} {} ({})", launcher.version->family, launcher.version->version,
                       launcher.path);
  }
  return fmt::format("{} {}", launcher.path,
                     launcher.too_slow ? "does not answer" : "is of an unknown kind");
}

Finding judge_launchers(const std::vector<Launcher>& launchers) {
  Finding finding{.id = "mpi", .group = std::string(mpi_group), .what = "Launchers on PATH"};
  std::vector<std::string> texts;
  for (const Launcher& launcher : launchers) texts.push_back(launcher_text(launcher));
  finding.found = texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
  if (std::any_of(launchers.begin(), launchers.end(), is_mpi)) return finding;
  finding.state = State::limited;
  finding.cost = "No MPI program can be started from here. Multithreaded programs need no MPI.";
  finding.remedy = "apt install openmpi-bin, pip install mpich, or 'module load' the site's MPI.";
  return finding;
}

Finding judge_libraries(const std::vector<std::string>& libraries) {
  Finding finding{.id = "mpi-libraries", .group = std::string(mpi_group), .what = "MPI libraries"};
  finding.found =
      libraries.empty()
          ? "none known to the dynamic loader; programs must contain the path of their library"
          : fmt::format("{}", fmt::join(libraries, ", "));
  return finding;
}

std::vector<std::string> loader_libraries() {
  for (const char* path : {"/sbin/ldconfig", "/usr/sbin/ldconfig"}) {
    const auto output = run_program({path, "-p"}, launcher_patience);
    if (output) return parse_loader_libraries(output->text);
  }
  return {};
}

}  // namespace

std::vector<std::string> folders_of(std::string_view search_path) {
  std::vector<std::string> folders;
  while (!search_path.empty()) {
    const std::size_t colon = std::min(search_path.find(':'), search_path.size());
    const std::string folder(search_path.substr(0, colon));
    const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (!folder.empty() && !known) folders.push_back(folder);
    search_path.remove_prefix(std::min(colon + 1, search_path.size()));
  }
  return folders;
}

std::vector<Launcher> find_launchers(const std::vector<std::string>& folders,
                                     std::chrono::milliseconds wait) {
  std::vector<Launcher> launchers;
  std::set<std::string> asked;
  for (const std::string& folder : folders) {
    for (const std::string_view name : launcher_names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      if (::access(path.c_str(), X_OK) != 0) continue;
      std::error_code error;
      const std::filesystem::path real = std::filesystem::canonical(path, error);
      if (error || std::filesystem::is_directory(real) || !asked.insert(real.string()).second) {
        continue;
      }
      add_unless_known(launchers, ask(path, folders, wait));
    }
  }
  return launchers;
}

std::vector<Finding> judge_mpi(const std::vector<Launcher>& launchers,
                               const std::vector<std::string>& libraries) {
  return {judge_launchers(launchers), judge_libraries(libraries)};
}

std::vector<Finding> check_mpi(const std::vector<std::string>& folders) {
  return judge_mpi(find_launchers(folders, launcher_patience), loader_libraries());
}

}  // namespace huddle::doctor
