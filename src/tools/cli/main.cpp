// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/command.h"

int main(int argc, char** argv) { return huddle::cli::run_command_line(argc, argv); }
