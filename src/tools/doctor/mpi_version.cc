// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/mpi_installations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

namespace huddle::doctor {
namespace {

struct Family {
  std::string_view name;
  std::string_view sign;    // text that the launcher prints
  std::string_view before;  // the version is the first number after this text
};

// The first match counts. MVAPICH precedes MPICH, because its launcher is that of MPICH with
// another name. Slurm is last, because MPICH lists it as one of its supported schedulers.
constexpr std::array<Family, 9> families = {{
    {"Open MPI", "Open MPI", "Open MPI"},
    {"Open MPI", "OpenRTE", "OpenRTE"},
    {"PRRTE", "(PRRTE)", "(PRRTE)"},
    {"Intel MPI", "Intel(R) MPI Library", "Version"},
    {"MVAPICH", "mvapich", "mvapich"},
    {"MPICH", "HYDRA build details", "Version:"},
    {"MPICH", "MPICH Version", "MPICH Version:"},
    {"Slurm", "slurm-wlm ", "slurm-wlm "},
    {"Slurm", "slurm ", "slurm "},
}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns the first number with a dot, including its suffix: "4.1.4", "5.0.0rc2". For
// "mvapich2-2.3.7" that is 2.3.7.
std::string first_version(std::string_view text) {
  for (std::size_t start = 0; start < text.size(); ++start) {
    if (!is_digit(text[start]) || (start > 0 && is_digit(text[start - 1]))) continue;
    std::size_t end = start;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) {
      ++end;
    }
    std::string_view version = text.substr(start, end - start);
    while (version.ends_with('.')) version.remove_suffix(1);
    if (version.find('.') != std::string_view::npos) return std::string(version);
    start = end;
  }
  return {};
}

struct Library {
  std::string_view name;
  std::string_view speaks;
};

constexpr std::array<Library, 4> libraries = {{
    {"libmpi.so.40", "Open MPI"},
    {"libmpi.so.12", "MPICH and derivatives"},
    {"libmpich.so.12", "Debian's MPICH"},
    {"libmpi_abi.so", "the standard ABI of MPI 5"},
}};

}  // namespace

std::optional<MpiVersion> parse_mpi_version(std::string_view text) {
  const std::string folded = lower(text);
  for (const Family& family : families) {
    if (folded.find(lower(family.sign)) == std::string::npos) continue;
    const std::size_t before = folded.find(lower(family.before));
    if (before == std::string::npos) continue;
    const std::string version =
        first_version(std::string_view(folded).substr(before + family.before.size()));
    if (!version.empty()) return MpiVersion{std::string(family.name), version};
  }
  return std::nullopt;
}

std::vector<std::string> parse_loader_libraries(std::string_view text) {
  std::set<std::string> found;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    std::istringstream line_stream(line);
    std::string name;
    line_stream >> name;
    for (const Library& library : libraries) {
      if (name.starts_with(library.name)) {
        found.insert(name + " (" + std::string(library.speaks) + ")");
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace huddle::doctor
