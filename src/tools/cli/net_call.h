// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What commands about schedules between nodes take: an operation or one of its algorithms, and the
// numbers that some algorithms look at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/schedules/algorithms.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// More than any cluster has.
inline constexpr int most_ranks = 1 << 20;

// The options --root, --radix, --segments and --message-blocks.
class NetCallOptions {
 public:
  void declare(Options& options);
  net::Call call(int ranks) const;
  int root() const { return root_; }

 private:
  int root_ = 0;
  int radix_ = 2;
  int segments_ = 1;
  int message_blocks_ = 1;
};

// "8", "2..64", "8,16,32..40". Throws UsageError.
std::vector<int> rank_counts_from(const std::string& text);

// Of "allgather" all algorithms, of "allgather:ring" that one. Throws UsageError.
std::vector<net::Algorithm> algorithms_from(const std::string& word);

// Operations and algorithms, as they are written.
std::vector<std::string> algorithm_words();

}  // namespace huddle::cli
