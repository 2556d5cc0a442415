// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// ucx_info: UCX's own program, which says what a UCX is and what it would do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ucx/library.h"

namespace huddle::ucx {

// "NAME=value" each.
using Environment = std::vector<std::string>;

class Tool {
 public:
  // path: of ucx_info. In a wheel the libraries lie beside it, where the loader does not look.
  explicit Tool(std::string path);

  const std::string& path() const { return path_; }
  // Everything that it knows of itself. Throws FailureError.
  Library library() const;
  // What two processes of one node would send over with these settings, as it is printed, with
  // what UCX has to complain of.
  std::string selections_text(const Environment& settings) const;

 private:
  std::string run(const Environment& settings, const std::vector<std::string>& words) const;

  std::string path_;
  Environment own_;  // what it needs to find its libraries
};

// The first ucx_info among these folders, which PATH separates by colons; nothing where there is
// none.
std::optional<std::string> find_tool(std::string_view search_path);

}  // namespace huddle::ucx
