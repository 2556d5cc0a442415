// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What levels and their groups are called in pictures.
#pragma once

#include <string>
#include <string_view>

#include "model/machine/topology.h"

namespace huddle::picture {

// "L3", "NUMA", "package".
std::string level_title(std::string_view level);

// "L3 32M", "NUMA 1 16G", "package 0".
std::string group_title(const machine::Topology& topology, const machine::Level& level,
                        std::size_t group);

// The same without what differs between equals: "l3 33554432", "package".
std::string group_shape(const machine::Level& level, std::size_t group);

// "NUMA 2 hbm 16G".
std::string memory_title(const machine::NumaNode& node);

}  // namespace huddle::picture
