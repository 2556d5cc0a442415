// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/provenance.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>
#include <sstream>

#include "huddle/huddle.h"

namespace huddle::calibrate {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// uname also knows the host's name; that never leaves this function.
std::string kernel_text() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {}", names.sysname, names.release);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string on_or_off(const std::string& number) {
  if (number.empty()) return "absent";
  return number == "0" ? "off" : "on";
}

// "on", "off", "forceoff" and the like; processors without it say so themselves.
std::string smt_text(const std::string& root) {
  const std::string control = first_line(root + "/sys/devices/system/cpu/smt/control");
  if (control.empty() || control.starts_with("not")) return "absent";
  return control == "on" ? "on" : "off";
}

bool cpu_says_hypervisor(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == "hypervisor") return true;
    }
    return false;
  }
  return false;
}

// The vendor where the firmware names one, else "yes".
std::string hypervisor_text(const std::string& root) {
  if (std::string type = first_line(root + "/sys/hypervisor/type"); !type.empty()) {
    return type;
  }
  if (!cpu_says_hypervisor(root)) return "";
  const std::string vendor = first_line(root + "/sys/class/dmi/id/sys_vendor");
  return vendor.empty() ? "yes" : vendor;
}

}  // namespace

machine::Provenance provenance_of_this_machine(const std::string& root) {
  machine::Provenance provenance;
  provenance.tool = fmt::format("huddle {}", huddle_version());
  provenance.date = utc_now();
  provenance.kernel = kernel_text();
  const std::string governor =
      first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  provenance.governor = governor.empty() ? "none" : governor;
  provenance.smt = smt_text(root);
  provenance.numa_balancing = on_or_off(first_line(root + "/proc/sys/kernel/numa_balancing"));
  provenance.hypervisor = hypervisor_text(root);
  return provenance;
}

}  // namespace huddle::calibrate
