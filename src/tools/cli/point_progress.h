// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Points that are measured one after the other, as a bar that moves.
#pragma once

#include <cstddef>
#include <string>

#include "common/text.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/cli/progress.h"

namespace huddle::cli {

class PointProgress : public bench::PointWatcher {
 public:
  PointProgress(const Console& console, std::size_t points)
      : progress_(console, points), points_(points) {}

  void begin(const bench::Point& point, std::size_t number) override {
    const std::string size =
        point.bytes == 0 ? "" : " of " + size_text(static_cast<double>(point.bytes));
    progress_.begin_step(std::string(name(point.operation)) + size);
    progress_.update(static_cast<double>(number) / static_cast<double>(points_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t points_;
};

}  // namespace huddle::cli
