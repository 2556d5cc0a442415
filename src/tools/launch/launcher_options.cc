// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <array>
#include <span>

#include "tools/launch/launcher.h"

namespace huddle::launch {
namespace {

using Names = std::span<const std::string_view>;

// Options of Open MPI 4.1 and 5.0 and of PRRTE 3.0 with one or two values.
constexpr std::array<std::string_view, 45> open_mpi_one = {"n",
                                                           "np",
                                                           "c",
                                                           "N",
                                                           "H",
                                                           "host",
                                                           "hostfile",
                                                           "machinefile",
                                                           "default-hostfile",
                                                           "x",
                                                           "map-by",
                                                           "rank-by",
                                                           "bind-to",
                                                           "mapby",
                                                           "rankby",
                                                           "bindto",
                                                           "ppr",
                                                           "npernode",
                                                           "npersocket",
                                                           "cpus-per-proc",
                                                           "cpus-per-rank",
                                                           "cpu-set",
                                                           "cpu-list",
                                                           "rf",
                                                           "rankfile",
                                                           "output-filename",
                                                           "output",
                                                           "display",
                                                           "stdin",
                                                           "xml-file",
                                                           "xterm",
                                                           "path",
                                                           "prefix",
                                                           "preload-files",
                                                           "wd",
                                                           "wdir",
                                                           "am",
                                                           "tune",
                                                           "debugger",
                                                           "timeout",
                                                           "app",
                                                           "personality",
                                                           "report-uri",
                                                           "report-pid",
                                                           "max-restarts"};
constexpr std::array<std::string_view, 6> open_mpi_two = {"mca",   "gmca",    "omca",
                                                          "gomca", "prtemca", "pmixmca"};

// Options of Hydra in MPICH, MVAPICH and Intel MPI.
constexpr std::array<std::string_view, 43> hydra_one = {"n",
                                                        "np",
                                                        "f",
                                                        "hosts",
                                                        "host",
                                                        "hostfile",
                                                        "machine",
                                                        "machinefile",
                                                        "wdir",
                                                        "configfile",
                                                        "genvlist",
                                                        "envlist",
                                                        "launcher",
                                                        "launcher-exec",
                                                        "bootstrap",
                                                        "bootstrap-exec",
                                                        "rmk",
                                                        "topolib",
                                                        "bind-to",
                                                        "map-by",
                                                        "membind",
                                                        "demux",
                                                        "iface",
                                                        "ppn",
                                                        "perhost",
                                                        "grr",
                                                        "rr",
                                                        "prepend-pattern",
                                                        "outfile-pattern",
                                                        "errfile-pattern",
                                                        "nameserver",
                                                        "localhost",
                                                        "usize",
                                                        "gpus-per-proc",
                                                        "hosts-group",
                                                        "gtool",
                                                        "gtoolfile",
                                                        "s",
                                                        "tune",
                                                        "cpu-bind",
                                                        "path",
                                                        "timeout",
                                                        "binding"};
constexpr std::array<std::string_view, 2> hydra_two = {"genv", "env"};

// Options of Slurm 22.05 with a value. A one-letter option and its value may form a single word.
constexpr std::array<std::string_view, 88> slurm_one = {"A",
                                                        "b",
                                                        "c",
                                                        "d",
                                                        "D",
                                                        "e",
                                                        "i",
                                                        "J",
                                                        "L",
                                                        "M",
                                                        "m",
                                                        "n",
                                                        "N",
                                                        "o",
                                                        "p",
                                                        "q",
                                                        "r",
                                                        "S",
                                                        "t",
                                                        "T",
                                                        "W",
                                                        "C",
                                                        "w",
                                                        "x",
                                                        "G",
                                                        "account",
                                                        "acctg-freq",
                                                        "bb",
                                                        "bbf",
                                                        "bcast-exclude",
                                                        "begin",
                                                        "chdir",
                                                        "clusters",
                                                        "comment",
                                                        "constraint",
                                                        "core-spec",
                                                        "cores-per-socket",
                                                        "cpu-bind",
                                                        "cpu-freq",
                                                        "cpus-per-gpu",
                                                        "cpus-per-task",
                                                        "deadline",
                                                        "delay-boot",
                                                        "dependency",
                                                        "distribution",
                                                        "epilog",
                                                        "error",
                                                        "exclude",
                                                        "export",
                                                        "extra-node-info",
                                                        "gpu-bind",
                                                        "gpu-freq",
                                                        "gpus",
                                                        "gpus-per-node",
                                                        "gpus-per-socket",
                                                        "gpus-per-task",
                                                        "gres",
                                                        "gres-flags",
                                                        "het-group",
                                                        "hint",
                                                        "input",
                                                        "job-name",
                                                        "jobid",
                                                        "licenses",
                                                        "mail-type",
                                                        "mail-user",
                                                        "mem",
                                                        "mem-bind",
                                                        "mem-per-cpu",
                                                        "mem-per-gpu",
                                                        "mincpus",
                                                        "mpi",
                                                        "nodelist",
                                                        "nodes",
                                                        "ntasks",
                                                        "ntasks-per-core",
                                                        "ntasks-per-node",
                                                        "ntasks-per-socket",
                                                        "output",
                                                        "partition",
                                                        "prolog",
                                                        "qos",
                                                        "relative",
                                                        "reservation",
                                                        "signal",
                                                        "time",
                                                        "tmp",
                                                        "wait"};

std::size_t taken(std::string_view name, Names one, Names two) {
  const auto holds = [name](Names names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return holds(one) ? 1 : holds(two) ? 2 : 0;
}

}  // namespace

std::size_t words_taken(Passing launcher, std::string_view option) {
  // Most launchers treat "-np" and "--np" alike.
  const std::string_view name =
      option.substr(std::min(option.find_first_not_of('-'), option.size()));
  switch (launcher) {
    case Passing::x_each_context:
    case Passing::x_once:
      return taken(name, open_mpi_one, open_mpi_two);
    case Passing::genv:
      return taken(name, hydra_one, hydra_two);
    case Passing::export_list:
      return taken(name, slurm_one, {});
    case Passing::inherited:
    case Passing::unknown:
      return 0;
  }
  return 0;
}

namespace {

std::size_t end_of_context(const std::vector<std::string>& words, std::size_t begin) {
  const auto from = words.begin() + static_cast<std::ptrdiff_t>(begin);
  return static_cast<std::size_t>(std::find(from, words.end(), ":") - words.begin());
}

std::size_t program_index(const std::vector<std::string>& words, const AppContext& context,
                          Passing launcher, const IsProgram& is_program) {
  for (std::size_t at = context.begin; at < context.end; ++at) {
    const std::string& word = words[at];
    if (word.starts_with('-')) {
      at += words_taken(launcher, word);
    } else if (is_program(word)) {
      return at;
    }
  }
  return context.end;
}

}  // namespace

std::vector<AppContext> contexts_of(const std::vector<std::string>& words, Passing launcher,
                                    const IsProgram& is_program) {
  std::vector<AppContext> contexts;
  for (std::size_t begin = 1; begin <= words.size();) {
    AppContext context{.begin = begin, .end = end_of_context(words, begin)};
    context.program = program_index(words, context, launcher, is_program);
    begin = context.end + 1;
    contexts.push_back(context);
  }
  return contexts;
}

}  // namespace huddle::launch
