// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "common/system.h"
#include "common/text.h"
#include "model/machine/cost.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/siblings.h"

namespace huddle::doctor {

Finding judge_heap(const machine::Machine& machine, const System& system) {
  Finding finding{.id = "heap", .group = "Machine model", .what = "Shared heap"};
  const auto cost = machine::heap_cost(machine);
  if (!cost) {
    finding.state = State::limited;
    finding.found = "its cost has not been measured";
    finding.cost = "With HUDDLE_HEAP=auto, ranks do not access each other's arrays.";
    finding.remedy = "Measure it, about a minute:";
    finding.command = "huddle calibrate";
    return finding;
  }
  finding.found = fmt::format(
      "compared with private arrays, random loads take {:.2f} times as long, sequential reads "
      "{:.2f} times",
      cost->loads, cost->stream);
  if (!cost->is_felt()) return finding;
  finding.state = State::limited;
  finding.cost =
      "With HUDDLE_HEAP=auto it stays off, so large messages are copied although ranks could "
      "access each other's arrays. 'huddle run --heap on' turns it on.";
  const Finding pages = check_huge_pages(system).front();
  finding.remedy = pages.state == State::works
                       ? "None is known: shared memory already has huge pages here."
                       : "Enable huge pages, then run 'huddle calibrate' again. " + pages.remedy;
  finding.command = pages.command;
  return finding;
}

namespace {

constexpr std::string_view huge_pages_group = "Huge pages";
constexpr std::string_view private_file = "/sys/kernel/mm/transparent_hugepage/enabled";

void add_remedy(const std::string& chosen, std::string_view wanted, std::string_view file,
                Finding& finding) {
  if (chosen.empty()) {
    finding.remedy = "Use a kernel with CONFIG_TRANSPARENT_HUGEPAGE.";
    return;
  }
  finding.remedy = "As root, until the next boot:";
  finding.command = fmt::format("echo {} > {}", wanted, file);
}

Finding check_shared(const System& system) {
  Finding finding{
      .id = "thp-shmem", .group = std::string(huge_pages_group), .what = "For shared memory"};
  const std::string chosen = chosen_word(system.read(shared_huge_pages_file).value_or(""));
  finding.found = chosen.empty() ? "the kernel does not offer them"
                                 : fmt::format("shmem_enabled is '{}'", chosen);
  if (may_share_huge_pages(system)) return finding;
  finding.state = State::limited;
  finding.cost =
      "Large shared buffers cause a page fault per small page at the first access, and random "
      "access to them misses the TLB more often. If this costs much time, the shared heap, through "
      "which ranks access each other's arrays, stays off with HUDDLE_HEAP=auto.";
  add_remedy(chosen, "advise", shared_huge_pages_file, finding);
  return finding;
}

Finding check_private(const System& system) {
  Finding finding{
      .id = "thp", .group = std::string(huge_pages_group), .what = "For private memory"};
  const std::string chosen = chosen_word(system.read(private_file).value_or(""));
  finding.found =
      chosen.empty() ? "the kernel does not offer them" : fmt::format("enabled is '{}'", chosen);
  if (chosen == "always" || chosen == "madvise") return finding;
  finding.state = State::limited;
  finding.cost =
      "Large arrays of programs miss the TLB more often, and copies from them are slower.";
  add_remedy(chosen, "madvise", private_file, finding);
  return finding;
}

}  // namespace

std::vector<Finding> check_huge_pages(const System& system) {
  return {check_shared(system), check_private(system)};
}

namespace {

constexpr std::string_view shared_memory_group = "Shared memory";

// An MPI uses a few MB per rank in /dev/shm: 64 ranks need 256 MB or more. The default in
// containers is 64 MB.
constexpr double small_shm_bytes = 256.0 * 1024 * 1024;

Finding judge_memfd(const ShmFacts& facts) {
  Finding finding{.id = "memfd",
                  .group = std::string(shared_memory_group),
                  .what = "memfd",
                  .found = "memfd_create works: shared memory without a name"};
  if (facts.memfd_error == 0) return finding;
  finding.found = fmt::format("memfd_create: {}", std::strerror(facts.memfd_error));
  if (facts.writable) {
    finding.state = State::limited;
    finding.cost = "huddle must use named memory in /dev/shm, whose size is limited.";
  } else {
    finding.state = State::fails;
    finding.cost = "Processes cannot share memory: huddle cannot work.";
  }
  if (facts.memfd_error == EMFILE || facts.memfd_error == ENFILE) {
    finding.remedy = setup_remedy(facts.memfd_error);
    return finding;
  }
  finding.remedy = "Use Linux 3.17 or newer, and a container profile that allows memfd_create.";
  return finding;
}

std::string shm_text(const ShmFacts& facts) {
  if (!facts.folder) return "missing";
  if (!facts.writable) return "not writable";
  return fmt::format("{}, {} free", size_text(facts.size_bytes), size_text(facts.free_bytes));
}

Finding judge_folder(const ShmFacts& facts) {
  Finding finding{.id = "shm",
                  .group = std::string(shared_memory_group),
                  .what = "/dev/shm",
                  .found = shm_text(facts)};
  if (facts.folder && facts.writable && facts.free_bytes >= small_shm_bytes) return finding;
  finding.state = State::limited;
  finding.cost =
      "The MPI keeps its own buffers there: jobs with many ranks end with a bus error, or the MPI "
      "uses a slower path. huddle's memory has no name and does not depend on this limit.";
  if (!facts.folder || !facts.writable) {
    finding.remedy = "As root:";
    finding.command = "mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
  } else if (facts.size_bytes >= small_shm_bytes) {
    finding.remedy = "Remove the files of ended jobs:";
    finding.command = "ls -l /dev/shm";
  } else {
    finding.remedy =
        "In a container: 'docker run --shm-size=8g' or --ipc=host. Otherwise, as root:";
    finding.command = "mount -o remount,size=50% /dev/shm";
  }
  return finding;
}

int try_memfd() {
  const int fd = ::memfd_create("huddle-doctor", MFD_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::ftruncate(fd, 1) == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

}  // namespace

std::vector<Finding> judge_shared_memory(const ShmFacts& facts) {
  return {judge_memfd(facts), judge_folder(facts)};
}

std::vector<Finding> check_shared_memory(const System& system) {
  ShmFacts facts;
  facts.memfd_error = try_memfd();
  const std::string folder = system.at("/dev/shm");
  facts.folder = system.exists("/dev/shm");
  facts.writable = ::access(folder.c_str(), W_OK | X_OK) == 0;
  struct statvfs space {};
  if (facts.folder && ::statvfs(folder.c_str(), &space) == 0) {
    const double block = static_cast<double>(space.f_frsize);
    facts.size_bytes = block * static_cast<double>(space.f_blocks);
    facts.free_bytes = block * static_cast<double>(space.f_bavail);
  }
  return judge_shared_memory(facts);
}

}  // namespace huddle::doctor
