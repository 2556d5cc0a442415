// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// toml++, compiled from its headers for the reason given in fmt.cc.
#define TOML_HEADER_ONLY 0
#define TOML_IMPLEMENTATION
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>
