// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/locate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"

namespace huddle::fabric {
namespace {

// They lie below the machines, which they name by paths relative to themselves.
constexpr const char* fabrics_folder = "machines/fabrics";

}  // namespace

std::vector<machine::NamedMachine> named_fabrics() { return machine::named_files(fabrics_folder); }

std::string fabric_file_named(const std::string& named) {
  if (named == standard_input || is_toml_path(named) || named.ends_with(".conf")) return named;
  std::vector<std::string> names;
  for (const machine::NamedMachine& fabric : named_fabrics()) {
    if (fabric.name == named) return fabric.path;
    names.push_back(fabric.name);
  }
  const std::string guess = did_you_mean(named, names);
  throw InputError(fmt::format("there is no fabric '{}'{}", printable(named),
                               guess.empty()
                                   ? fmt::format("; there are {}; give a file by its path: ./{}",
                                                 fmt::join(names, ", "), printable(named))
                                   : guess));
}

}  // namespace huddle::fabric
