// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/text.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/siblings.h"

namespace huddle::doctor {
namespace {

constexpr std::string_view shared_memory_group = "Shared memory";

// An MPI puts a few MB a rank into /dev/shm: 64 ranks want 256 MB and more. Containers that do not
// say otherwise get 64 MB.
constexpr double small_shm_bytes = 256.0 * 1024 * 1024;

Finding judge_memfd(const ShmFacts& facts) {
  Finding finding{.id = "memfd",
                  .group = std::string(shared_memory_group),
                  .what = "memfd",
                  .found = "memfd_create works: memory without a name"};
  if (facts.memfd_error == 0) return finding;
  finding.found = fmt::format("memfd_create: {}", std::strerror(facts.memfd_error));
  if (facts.writable) {
    finding.state = State::limited;
    finding.cost = "huddle has to use named memory in /dev/shm, within its size.";
  } else {
    finding.state = State::fails;
    finding.cost = "Processes cannot share memory at all: huddle cannot work.";
  }
  if (facts.memfd_error == EMFILE || facts.memfd_error == ENFILE) {
    finding.remedy = setup_remedy(facts.memfd_error);
    return finding;
  }
  finding.remedy = "Use Linux 3.17 or newer, and a container profile that allows memfd_create.";
  return finding;
}

std::string shm_text(const ShmFacts& facts) {
  if (!facts.folder) return "not there";
  if (!facts.writable) return "may not be written";
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
      "The MPI underneath keeps its own buffers there: jobs of many ranks stop with a bus error, "
      "or "
      "fall back to a slower path. huddle's memory has no name and is not bound by it.";
  if (!facts.folder || !facts.writable) {
    finding.remedy = "As root:";
    finding.command = "mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
  } else if (facts.size_bytes >= small_shm_bytes) {
    finding.remedy = "Remove what ended jobs have left there:";
    finding.command = "ls -l /dev/shm";
  } else {
    finding.remedy =
        "In a container: 'docker run --shm-size=8g' or --ipc=host. Elsewhere, as root:";
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
