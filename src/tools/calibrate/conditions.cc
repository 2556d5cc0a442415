// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/conditions.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "huddle/huddle.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {
namespace {

// Ticks of one hardware thread, or of all, since boot.
struct Ticks {
  long long used = 0;
  long long stolen = 0;
  long long idle = 0;

  long long busy() const { return used + stolen; }
};

// Parses "cpu3 user nice system idle iowait irq softirq steal ..."; see proc(5).
Ticks ticks_of(const std::vector<std::string>& words) {
  constexpr std::size_t first = 1;
  constexpr std::size_t idle = 4;
  constexpr std::size_t iowait = 5;
  constexpr std::size_t steal = 8;  // the following fields are part of `user` and `nice`
  Ticks ticks;
  for (std::size_t i = first; i < words.size() && i <= steal; ++i) {
    long long& kind = i == steal                 ? ticks.stolen
                      : i == idle || i == iowait ? ticks.idle
                                                 : ticks.used;
    kind += whole_number(words[i]).value_or(0);
  }
  return ticks;
}

std::map<std::string, Ticks> ticks_by_name(const System& system) {
  std::map<std::string, Ticks> all;
  for (const std::string& line : system.lines("/proc/stat")) {
    const std::vector<std::string> parts = words(line);
    if (!parts.empty() && parts.front().starts_with("cpu")) all[parts.front()] = ticks_of(parts);
  }
  return all;
}

}  // namespace

void pass_a_moment() { std::this_thread::sleep_for(shortest_observation); }

std::vector<OtherWork> other_work(const System& system, std::span<const int> pus,
                                  const std::function<void()>& wait) {
  auto before = ticks_by_name(system);
  wait();
  auto after = ticks_by_name(system);
  std::vector<OtherWork> found;
  for (const int pu : pus) {
    const std::string name = fmt::format("cpu{}", pu);
    const auto busy = static_cast<double>(after[name].busy() - before[name].busy());
    const auto idle = static_cast<double>(after[name].idle - before[name].idle);
    if (busy > Tolerance{}.taken_away * (busy + idle)) found.push_back({pu, busy / (busy + idle)});
  }
  return found;
}

std::optional<CpuTimes> cpu_times(const System& system) {
  const auto by_name = ticks_by_name(system);
  const auto all = by_name.find("cpu");
  if (all == by_name.end() || by_name.size() < 2) return std::nullopt;
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  return CpuTimes{.used_seconds = static_cast<double>(all->second.used) / ticks_per_s,
                  .stolen_seconds = static_cast<double>(all->second.stolen) / ticks_per_s,
                  .pus = static_cast<int>(by_name.size()) - 1};
}

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Omits the host name, which uname() also returns.
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

// The file contains "on", "off", "forceoff" or a text that SMT is not supported.
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

// Returns the vendor if the firmware names one, else "yes"; empty without a hypervisor.
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
