// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// ucx_info, UCX's own program: it prints what a UCX is and what it would do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ucx/library.h"

namespace huddle::ucx {

// "NAME=value" each.
using Environment = std::vector<std::string>;

struct Selected {
  std::vector<Selection> selections;
  std::vector<std::string> complaints;  // UCX's warnings and errors
};

class Tool {
 public:
  // path: of ucx_info. In a wheel the libraries lie beside it, where the loader does not look.
  explicit Tool(std::string path);

  const std::string& path() const { return path_; }
  // Returns version, settings and devices as they are with these settings. Throws FailureError.
  Library library(const Environment& settings = {}) const;
  // Returns what two processes of a node with this many ranks send over with these settings, in the
  // protocol mode of this UCX. Throws FailureError.
  Selected selected(const Library& installed, const Environment& settings, int ranks) const;

 private:
  std::string run(const Environment& settings, const std::vector<std::string>& words) const;

  std::string path_;
  Environment own_;  // what it needs to find its libraries
};

// The first ucx_info among these folders, which PATH separates by colons; nothing where there is
// none.
std::optional<std::string> find_tool(std::string_view search_path);

}  // namespace huddle::ucx
