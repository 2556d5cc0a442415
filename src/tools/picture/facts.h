// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Texts beside the pictures, common to terminal and SVG: the machine's name, the origin of its
// figures, and the cost of each level.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

// Returns the name of a level: "L3", "NUMA", "package".
std::string level_title(std::string_view level);

// Returns for example "L3 32M", "NUMA 1 16G", "package 0".
std::string group_title(const machine::Topology& topology, const machine::Level& level,
                        std::size_t group);

// Returns a text that is equal for groups of the same kind: "l3 33554432", "package".
std::string group_shape(const machine::Level& level, std::size_t group);

// Returns for example "NUMA 2 hbm 16G".
std::string memory_title(const machine::NumaNode& node);

// Returns for example "xeon-e5-2620v4-2s"; the processor's model if the machine has no name.
std::string machine_title(const machine::Machine& machine);

// Returns for example "AMD EPYC 9554, 64 cores, 128 processors, fingerprint amd-...".
std::string machine_line(const machine::Machine& machine);

// Returns "calibrated: measured 2026-11-20 by huddle 0.1.0 (FILE)", or why it is not calibrated.
std::string calibration_line(const Subject& subject);

// Returns what the latencies between cores are based on: "measured (every pair)", "measured for
// each shared level", or that they are not measured. A picture of estimates must not look like one
// of measurements.
std::string latency_origin(const machine::Machine& machine);

// Returns the legend of the word "origin": what was measured, or by which method and from which
// sources the figures were estimated.
std::string figures_origin(const Subject& subject);

// Returns one row for each level that several cores share, after a heading.
using LevelRow = std::array<std::string, 5>;  // sharing, one way, shared line, spread, origin
std::vector<LevelRow> level_rows(const machine::Machine& machine);

// Returns a sentence for each disagreement between the measured latencies and the firmware's
// topology.
std::vector<std::string> latency_differences(const machine::Machine& machine);

}  // namespace huddle::picture
