// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is said beside the pictures: whose machine this is, how far its figures may be trusted, what
// each level costs. The same words in the terminal and in the pictures.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

// What levels and their groups are called in pictures.

// "L3", "NUMA", "package".
std::string level_title(std::string_view level);

// "L3 32M", "NUMA 1 16G", "package 0".
std::string group_title(const machine::Topology& topology, const machine::Level& level,
                        std::size_t group);

// The same without what differs between equals: "l3 33554432", "package".
std::string group_shape(const machine::Level& level, std::size_t group);

// "NUMA 2 hbm 16G".
std::string memory_title(const machine::NumaNode& node);

// "xeon-e5-2620v4-2s"; the processor's model where the machine has no name.
std::string machine_title(const machine::Machine& machine);

// "AMD EPYC 9554, 64 cores, 128 processors, fingerprint amd-...".
std::string machine_line(const machine::Machine& machine);

// "calibrated: measured 2026-11-20 by huddle 0.1.0 (FILE)", or how it is not.
std::string calibration_line(const Subject& subject);

// One row for each level that joins cores; the first row is the heading.
using LevelRow = std::array<std::string, 5>;  // sharing, one way, shared line, spread, origin
std::vector<LevelRow> level_rows(const machine::Machine& machine);

// Where measured latencies and the firmware's tree disagree; empty without measured pairs.
std::vector<std::string> latency_differences(const machine::Machine& machine);

}  // namespace huddle::picture
