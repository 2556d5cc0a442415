// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle-look [FILE]: prints the size in bytes of the machine file for this node and, after a line
// break, the file, as `huddle topo` finds it. With the size, the reader can detect a truncated
// file. Then it stores the file for later jobs. The preloaded library runs it once per node, so
// that hwloc is never loaded into the program's process, which may contain another hwloc. It is not
// meant for users.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "common/error.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/stored_machine.h"
#include "model/machine/topology.h"

int main(int argc, char** argv) {
  using namespace huddle;
  const std::string named = argc > 1 ? argv[1] : "";
  // Before the environment changes, because a reader compares it.
  const machine::StoredMachine stored(named);
  // hwloc's plugins examine GPUs, disks and networks, and take longer than everything else.
  setenv("HWLOC_PLUGINS_PATH", "", 1);
  try {
    const machine::Discovery discovery = machine::discover_this_machine();
    const machine::LoadedMachine loaded = machine::load_machine(named, discovery.topology);
    // The text of a machine file is used unchanged.
    const std::string text =
        loaded.text.empty() ? machine::format_machine(loaded.machine) : loaded.text;
    std::printf("%zu\n", text.size());
    std::fwrite(text.data(), 1, text.size(), stdout);
    // The reader waits until both descriptors of its pipe are closed.
    const bool is_printed = std::fclose(stdout) == 0;
    close(STDERR_FILENO);
    std::signal(SIGXFSZ, SIG_IGN);
    stored.store(text, loaded.path);
    return static_cast<int>(is_printed ? ExitCode::fine : ExitCode::failure);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(ExitCode::failure);
  }
}
