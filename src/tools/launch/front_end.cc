// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/front_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>

#include "common/error.h"
#include "common/other_processes.h"
#include "common/system.h"
#include "tools/launch/program.h"

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

// Relative to the program's folder: in an installation, then in a build.
constexpr std::array<std::string_view, 2> python_folders = {HUDDLE_PYTHON_FOLDER,
                                                            "../share/huddle/python"};

// Python on a slow file system takes seconds to start.
constexpr std::chrono::milliseconds python_wait{30000};

// Keeps Python from writing compiled files beside its sources: if root runs it, nothing would
// remove them.
constexpr const char* leave_nothing = "-B";

// Replaces the working directory in Python's search path by the package's folder, because the
// working directory may contain any files.
constexpr std::string_view look_there =
    "import sys\nsys.path[:1] = filter(None, [sys.argv.pop(1)])\n";

// Prints missing modules after a mark, because Python may print other text at its start.
constexpr std::string_view mark = "huddle-misses:";
constexpr std::string_view probe = R"(
from importlib.util import find_spec
def is_there(name):
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
old = ["python"] if sys.version_info < (3, 9) else []
print("huddle-misses:", *old, *(name for name in ("matplotlib", "huddle.report") if not is_there(name)))
)";

struct Candidate {
  std::string python;
  std::vector<std::string> missing;
};

std::string folder_beside(const std::string& program) {
  for (const std::string_view folder : python_folders) {
    const fs::path place = (fs::path(program).parent_path() / folder).lexically_normal();
    std::error_code ignored;
    if (fs::exists(place / "huddle" / "report.py", ignored)) return place.string();
  }
  return {};
}

// Runs an interpreter to find out which modules it lacks. Returns none if it is not Python.
std::optional<Candidate> look_at(const std::string& python, const std::string& folder) {
  const auto output = run_program(
      {python, leave_nothing, "-c", std::string(look_there) + std::string(probe), folder},
      python_wait);
  const std::size_t at = output ? output->text.rfind(mark) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return Candidate{python, words(output->text.substr(at + mark.size()))};
}

std::vector<std::string> pythons_in(std::string_view search_path) {
  std::vector<std::string> found;
  while (!search_path.empty()) {
    const std::size_t end = std::min(search_path.find(':'), search_path.size());
    const auto python = find_program("python3", search_path.substr(0, end));
    if (python && std::find(found.begin(), found.end(), *python) == found.end()) {
      found.push_back(*python);
    }
    search_path.remove_prefix(std::min(end + 1, search_path.size()));
  }
  return found;
}

[[noreturn]] void refuse(const std::vector<Candidate>& candidates) {
  constexpr std::string_view why = "huddle report requires Python";
  if (candidates.empty()) {
    throw FailureError(fmt::format(
        "{}, but python3 is not in PATH (Debian: apt install python3-matplotlib)", why));
  }
  const Candidate& first = candidates.front();
  const auto misses = [&first](std::string_view name) {
    return std::find(first.missing.begin(), first.missing.end(), name) != first.missing.end();
  };
  if (misses("python")) {
    throw FailureError(fmt::format("{} 3.9 or newer, but {} is older", why, first.python));
  }
  if (misses("huddle.report")) {
    throw FailureError(fmt::format(
        "{} and the package huddle-hpc, which is missing; run in the folder of huddle's sources:\n"
        "  {} -m pip install ./python",
        why, first.python));
  }
  throw FailureError(
      fmt::format("{} with matplotlib, which is missing:\n"
                  "  {} -m pip install matplotlib\n"
                  "(Debian: apt install python3-matplotlib)",
                  why, first.python));
}

}  // namespace

FrontEnd find_front_end(const std::string& program, std::string_view search_path) {
  const std::string folder = folder_beside(program);
  std::vector<Candidate> candidates;
  for (const std::string& python : pythons_in(search_path)) {
    const auto candidate = look_at(python, folder);
    if (!candidate) continue;
    if (candidate->missing.empty()) return {python, folder};
    candidates.push_back(*candidate);
  }
  refuse(candidates);
}

std::vector<std::string> front_end_command(const FrontEnd& front_end, const std::string& module,
                                           const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {
      front_end.python, leave_nothing, "-c",
      fmt::format("{}from {} import main\nsys.exit(main())", look_there, module), front_end.folder};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace huddle::launch
