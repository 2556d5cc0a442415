// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/process_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/system.h"

namespace huddle::team {
namespace {

std::uint64_t own_pid_namespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

// The boot id is a random UUID; its first 16 hexadecimal digits are enough to tell machines apart.
std::uint64_t this_machine() {
  const auto text = System().read("/proc/sys/kernel/random/boot_id");
  std::uint64_t number = 0;
  int digits = 0;
  for (const char letter : text.value_or("")) {
    const auto digit = std::string("0123456789abcdef").find(letter);
    if (digit == std::string::npos || digits++ >= 16) continue;
    number = number << 4 | digit;
  }
  return number;
}

// Field 22 of the line; the program's name, field 2, ends with its last ')' and may hold anything.
std::uint64_t own_start_time() {
  const std::string line = System().read("/proc/self/stat").value_or("");
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string> fields = words(line.substr(name_end + 1));
  constexpr std::size_t field_after_name = 22 - 3;
  if (fields.size() <= field_after_name) return 0;
  return static_cast<std::uint64_t>(whole_number(fields[field_after_name]).value_or(0));
}

}  // namespace

ProcessIdentity ProcessIdentity::mine() {
  return {this_machine(), own_pid_namespace(), own_start_time(),
          static_cast<std::uint32_t>(getpid()), geteuid()};
}

bool share_process_ids(const ProcessIdentity& one, const ProcessIdentity& other) {
  // The first namespace has the same number on every machine.
  return one.machine != 0 && one.machine == other.machine && one.pid_namespace != 0 &&
         one.pid_namespace == other.pid_namespace;
}

bool is_same_process(const ProcessIdentity& one, const ProcessIdentity& other) {
  return one.machine != 0 && one.pid_namespace != 0 && one.start_time != 0 && one == other;
}

bool on_two_machines(const ProcessIdentity& one, const ProcessIdentity& other) {
  return one.machine != 0 && other.machine != 0 && one.machine != other.machine;
}

}  // namespace huddle::team
