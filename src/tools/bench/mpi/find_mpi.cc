// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/find_mpi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/run_program.h"
#include "common/system.h"
#include "tools/launch/launcher.h"
#include "tools/launch/program_path.h"

namespace huddle::bench {
namespace {

namespace fs = std::filesystem;

// A launcher behind a slow file system needs a second or two to say its version.
constexpr std::chrono::milliseconds version_wait{10000};

// Their names, in the order in which they are looked for.
constexpr std::array<std::string_view, 3> launcher_names = {"mpirun", "mpiexec", "srun"};

// As bench/peers names them.
constexpr std::array<std::string_view, 5> peer_names = {"openmpi-4", "openmpi-5", "mpich-4",
                                                        "mpich-5", "intel"};

// Seen from a launcher: of an installation, and of a virtual environment beside a script.
constexpr std::array<std::string_view, 4> library_folders = {"../lib", "../lib64", "../lib/release",
                                                             "venv/lib"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> names_of_library(const std::string& family) {
  if (family == "Open MPI" || family == "PRRTE") return {"libmpi.so.40"};
  if (family == "Slurm") return {};
  return {"libmpi.so.12", "libmpich.so.12"};
}

std::string library_of(const std::string& launcher, const std::vector<std::string>& names) {
  for (const std::string& link : launch::along_links(launcher)) {
    for (const std::string_view folder : library_folders) {
      for (const std::string& name : names) {
        const fs::path file = (fs::path(link).parent_path() / folder / name).lexically_normal();
        if (is_there(file)) return file.string();
      }
    }
  }
  return fmt::format("{}", fmt::join(names, ":"));
}

std::string abi_of(const std::string& library) {
  const std::string name = fs::path(library).filename().string();
  if (name.starts_with("libmpi_abi")) return "mpi_abi";
  return name.find(".so.40") != std::string::npos ? "openmpi" : "mpich";
}

// Also of a script that starts one.
std::optional<doctor::MpiVersion> version_of(const std::string& launcher) {
  if (const auto known = launch::find_launcher(launcher)) return known->version;
  const auto output = run_program({launcher, "--version"}, version_wait);
  return output ? launch::launcher_from(launcher, "mpiexec", output->text).version : std::nullopt;
}

std::string first_launcher(const std::string& search_path) {
  for (const std::string_view name : launcher_names) {
    if (const auto path = launch::find_program(std::string(name), search_path)) return *path;
  }
  throw UsageError(
      "no MPI was found: there is no mpirun on the PATH. Load or install one, name its launcher "
      "with --mpi, or time huddle without an MPI: huddle bench engine");
}

Mpi mpi_behind(std::vector<std::string> command, const std::string& library,
               const std::string& search_path) {
  const auto path = launch::find_program(command.front(), search_path);
  if (!path) throw UsageError(launch::why_not_found(command.front()));
  command.front() = *path;
  const auto version = version_of(*path);
  if (!version) {
    throw UsageError(fmt::format("{} does not say that it is the launcher of an MPI", *path));
  }
  Mpi mpi{.name = fmt::format("{} {}", version->family, version->version),
          .launcher = command,
          .library = library,
          .abi = {}};
  if (library.empty()) mpi.library = library_of(*path, names_of_library(version->family));
  if (mpi.library.empty()) {
    throw UsageError(fmt::format(
        "{} starts programs of any MPI: say with --mpi-library which one to measure", *path));
  }
  mpi.abi = abi_of(mpi.library);
  return mpi;
}

}  // namespace

Mpi find_mpi(const std::string& launcher, const std::string& library,
             const std::string& search_path) {
  std::vector<std::string> command = words(launcher);
  if (command.empty()) command = {first_launcher(search_path)};
  return mpi_behind(std::move(command), library, search_path);
}

std::vector<Mpi> find_peers(const std::string& folder) {
  std::vector<Mpi> peers;
  for (const std::string_view name : peer_names) {
    const fs::path run = fs::absolute(fs::path(folder) / name / "run");
    if (!is_there(run)) continue;
    peers.push_back(mpi_behind({run.string()}, "", ""));
    peers.back().name = name;
  }
  if (!peers.empty()) return peers;
  throw UsageError(fmt::format("{} holds no MPI; bench/peers {} sets them up", folder, folder));
}

}  // namespace huddle::bench
