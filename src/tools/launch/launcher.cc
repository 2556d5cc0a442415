// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/launcher.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "common/other_processes.h"
#include "common/system.h"
#include "tools/launch/inspect.h"
#include "tools/launch/program.h"

namespace huddle::launch {
namespace {

// A launcher on a slow network file system needs a second or two to print its version.
constexpr std::chrono::milliseconds version_wait{5000};

// Launchers that print their version, whichever MPI they belong to.
constexpr std::array<std::string_view, 15> versioned_names = {
    "mpirun",        "mpiexec",         "mpirun.openmpi", "mpiexec.openmpi",  "mpirun.mpich",
    "mpiexec.mpich", "mpirun.hydra",    "mpiexec.hydra",  "mpirun.mpich-abi", "orterun",
    "prterun",       "mpiexec.gforker", "mpirun_rsh",     "oshrun",           "srun"};

// Launchers that pass on their environment. Some would start a job if called with a version option.
constexpr std::array<std::string_view, 3> inheriting_names = {"aprun", "ibrun", "jsrun"};

template <std::size_t n>
bool holds(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the number before the first dot; 0 if there is none.
long long major_of(const std::string& version) {
  return whole_number(version.substr(0, version.find('.'))).value_or(0);
}

constexpr long long first_with_prrte = 5;

Passing passing_of(const doctor::MpiVersion& version) {
  if (version.family == "Open MPI") {
    return major_of(version.version) < first_with_prrte ? Passing::x_each_context : Passing::x_once;
  }
  if (version.family == "PRRTE") return Passing::x_once;
  return version.family == "Slurm" ? Passing::export_list : Passing::genv;
}

// Returns whether srun printed an error instead of its version, as it does without a configuration.
bool is_slurm_in_trouble(std::string_view name, std::string_view printed) {
  return name == "srun" && printed.starts_with("srun: ");
}

// Open MPI links its launchers with this library up to version 4.
constexpr std::string_view library_of_open_mpi_4 = "libopen-rte.so";

// The launcher of MPICH and its derivatives, Hydra, prints this title above its version. All of
// them pass variables on in the same way.
constexpr std::string_view title_of_hydra = "HYDRA build details";

// Returns the output for --version, or an empty text.
std::string printed_version(const std::string& path) {
  const auto output = run_program({path, "--version"}, version_wait);
  return output ? output->text : std::string();
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

bool is_launcher_name(std::string_view name) {
  return holds(versioned_names, name) || holds(inheriting_names, name);
}

Launcher launcher_from(const std::string& path, std::string_view name, std::string_view printed) {
  Launcher launcher{.path = path};
  if (holds(inheriting_names, name)) {
    launcher.passing = Passing::inherited;
    return launcher;
  }
  launcher.version = doctor::parse_mpi_version(printed);
  // MVAPICH's own launcher has its own syntax for variables.
  if (name == "mpirun_rsh") return launcher;
  if (launcher.version) launcher.passing = passing_of(*launcher.version);
  if (!launcher.version && is_slurm_in_trouble(name, printed)) {
    launcher.passing = Passing::export_list;
  }
  return launcher;
}

Passing passing_in_file(const std::string& path) {
  const auto elf = read_elf(path);
  if (!elf) return Passing::unknown;
  const bool has_orte = std::any_of(
      elf->needed.begin(), elf->needed.end(),
      [](const std::string& library) { return library.starts_with(library_of_open_mpi_4); });
  if (has_orte) return Passing::x_each_context;
  return has_text(path, title_of_hydra) ? Passing::genv : Passing::unknown;
}

std::optional<Launcher> find_launcher(const std::string& path) {
  const std::vector<std::string> links = along_links(path);
  const auto known = std::find_if(links.begin(), links.end(), [](const std::string& link) {
    return is_launcher_name(name_of(link));
  });
  if (known == links.end()) return std::nullopt;
  const std::string name = name_of(*known);
  if (holds(inheriting_names, name)) return launcher_from(path, name, "");
  // Running the launcher would take longer than everything else that `huddle run` does.
  const Passing passing = passing_in_file(path);
  if (passing != Passing::unknown) return Launcher{.path = path, .passing = passing};
  return launcher_from(path, name, printed_version(path));
}

std::optional<doctor::MpiVersion> version_of(const Launcher& launcher) {
  const bool was_identified_by_file =
      launcher.passing == Passing::x_each_context || launcher.passing == Passing::genv;
  if (launcher.version || !was_identified_by_file) return launcher.version;
  return doctor::parse_mpi_version(printed_version(launcher.path));
}

}  // namespace huddle::launch
