// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/doctor/siblings.h"

#include <fmt/format.h>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {

namespace {

struct Module {
  std::string_view name;
  std::string_view device;
};
// Kernel modules that MPIs use to copy between processes.
constexpr std::array modules = {Module{"KNEM", "/dev/knem"}, Module{"XPMEM", "/dev/xpmem"}};

}  // namespace

std::vector<Finding> check_copy_modules(const System& system) {
  Finding finding{
      .id = "copy-modules", .group = "Between processes", .what = "Copy modules of the kernel"};
  for (const Module& module : modules) {
    if (!system.exists(module.device)) continue;
    finding.found += finding.found.empty() ? "" : ", ";
    finding.found += std::string(module.name) + " (" + std::string(module.device) + ")";
  }
  // This is no loss: huddle uses neither, and process_vm_readv does the same.
  if (finding.found.empty()) finding.found = "neither KNEM nor XPMEM, which only some MPIs use";
  return {finding};
}

namespace {

constexpr std::string_view siblings_group = "Between processes";

// Results of the same attempt without and with the peer's permission (PR_SET_PTRACER).
struct Attempts {
  int plain = 0;
  int allowing = 0;

  bool works() const { return allowing == 0; }
  std::string text() const {
    if (plain == 0) return "works between processes";
    if (works())
      return "works if the other process allows it (PR_SET_PTRACER), as huddle's processes do";
    return fmt::format("refused: {}", std::strerror(allowing));
  }
};

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

std::string container_remedy(int error, std::string_view call) {
  if (out_of_descriptors(error)) return setup_remedy(error);
  if (error == ENOSYS) {
    return fmt::format(
        "The kernel lacks {}, or a seccomp filter blocks it: use a kernel with "
        "CONFIG_CROSS_MEMORY_ATTACH, or a container profile that allows the call.",
        call);
  }
  return fmt::format(
      "In a container: 'docker run --cap-add=SYS_PTRACE' or a seccomp profile that allows {}; "
      "start all ranks of a node in one container (one user namespace). Otherwise: processes that "
      "changed their user (setuid) refuse it; start them as the user that runs them.",
      call);
}

Finding judge_memory(const single_copy::PeerPath& path, const Attempts& attempts,
                     bool another_works) {
  Finding finding{.id = std::string(path.name),
                  .group = std::string(siblings_group),
                  .what = "Reading another process",
                  .found = fmt::format("{} {}", path.call, attempts.text())};
  if (attempts.works()) return finding;
  finding.state = State::limited;
  finding.cost =
      another_works ? "huddle reads the memory of other ranks by another path, which may be slower."
                    : "Large messages are copied twice, in and out of shared memory, instead of "
                      "once. The MPI may also be unable to use a single copy.";
  finding.remedy = container_remedy(attempts.allowing, path.call);
  return finding;
}

std::vector<Finding> judge_paths(const SiblingFacts& facts) {
  std::vector<Finding> findings;
  for (std::size_t path = 0; path < facts.paths.size(); ++path) {
    findings.push_back(judge_memory(
        facts.paths[path], {facts.plain.memory_read(path), facts.allowing.memory_read(path)},
        facts.allowing.reads_memory()));
  }
  return findings;
}

struct Way {
  std::string_view id;
  std::string_view what;
  std::string_view call;
  Attempts attempts;
};

Finding judge_way(const Way& way, bool another_works) {
  Finding finding{.id = std::string(way.id),
                  .group = std::string(siblings_group),
                  .what = std::string(way.what),
                  .found = fmt::format("{} {}", way.call, way.attempts.text())};
  if (way.attempts.works()) return finding;
  if (another_works) {
    finding.state = State::limited;
    finding.cost =
        "huddle passes shared memory to other processes in another way, so setting up a team takes "
        "a little longer. Nothing else is slower.";
  } else {
    finding.state = State::fails;
    finding.cost = "Processes cannot share memory without a name, so huddle must use /dev/shm.";
  }
  finding.remedy = container_remedy(way.attempts.allowing, way.call);
  return finding;
}

std::vector<Finding> judge_descriptors(const SiblingFacts& facts) {
  const SiblingResults& plain = facts.plain;
  const SiblingResults& allowing = facts.allowing;
  const std::vector<Way> ways = {
      {"fd-socket",
       "Descriptors by socket",
       "SCM_RIGHTS",
       {plain.descriptor_by_socket, allowing.descriptor_by_socket}},
      {"fd-proc",
       "Descriptors by /proc",
       "/proc/PID/fd",
       {plain.descriptor_by_proc, allowing.descriptor_by_proc}},
      {"fd-pidfd",
       "Descriptors by pidfd",
       "pidfd_getfd",
       {plain.descriptor_by_pidfd, allowing.descriptor_by_pidfd}},
  };
  bool any = false;
  for (const Way& way : ways) any = any || way.attempts.works();
  std::vector<Finding> findings;
  for (const Way& way : ways) findings.push_back(judge_way(way, any));
  return findings;
}

std::string yama_meaning(long long scope) {
  switch (scope) {
    case 0:
      return "no restriction";
    case 1:
      return "only parent processes, unless a process allows more, as huddle's do";
    case 2:
      return "only root, or with CAP_SYS_PTRACE";
    default:
      return "no process, until the next boot";
  }
}

Finding judge_yama(const SiblingFacts& facts) {
  Finding finding{
      .id = "yama", .group = std::string(siblings_group), .what = "Yama (ptrace_scope)"};
  if (!facts.yama) {
    finding.found = "not in this kernel: no restriction";
    return finding;
  }
  finding.found = fmt::format("{}: {}", *facts.yama, yama_meaning(*facts.yama));
  if (facts.allowing.reads_memory()) return finding;
  if (*facts.yama < 2) return finding;  // another restriction applies, which its own check reports
  finding.state = State::limited;
  finding.cost =
      "A user's processes may not read each other's memory: no single copy for large messages.";
  finding.remedy = *facts.yama == 2 ? "Run as root; add it to /etc/sysctl.d/ to make it permanent:"
                                    : "Set kernel.yama.ptrace_scope=1 in /etc/sysctl.d/ and "
                                      "reboot, because 3 cannot be lowered before.";
  if (*facts.yama == 2) finding.command = "sysctl kernel.yama.ptrace_scope=1";
  return finding;
}

}  // namespace

std::vector<Finding> judge_siblings(const SiblingFacts& facts) {
  std::vector<Finding> findings = judge_paths(facts);
  for (Finding& finding : judge_descriptors(facts)) findings.push_back(std::move(finding));
  findings.push_back(judge_yama(facts));
  return findings;
}

std::string setup_remedy(int error) {
  if (error == EMFILE) {
    return "Raise the limit on open files to 4096 (ulimit -n, or nofile in "
           "/etc/security/limits.conf).";
  }
  if (error == ENFILE) return "Raise the limit on open files of the whole system (fs.file-max).";
  return "Raise the limit on processes (ulimit -u, or pids.max of the cgroup).";
}

namespace {

Finding cannot_start(const FailureError& error, const std::string& remedy) {
  return {.id = "siblings",
          .group = std::string(siblings_group),
          .what = "Starting processes",
          .state = State::fails,
          .found = error.what(),
          .cost = "Programs with several processes cannot run here.",
          .remedy = remedy};
}

}  // namespace

std::vector<Finding> check_siblings(const System& system) {
  try {
    return judge_siblings({.plain = probe_siblings(),
                           .allowing = probe_siblings({.allow_tracers = true}),
                           .yama = system.number("/proc/sys/kernel/yama/ptrace_scope")});
  } catch (const ProbeError& error) {
    return {cannot_start(error, setup_remedy(error.number()))};
  } catch (const FailureError& error) {
    return {cannot_start(
        error, "Find out what ends processes here, for example a memory limit or a filter.")};
  }
}

}  // namespace huddle::doctor
