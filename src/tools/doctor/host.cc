// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks of the host: bare metal, virtual machine or container, and CPU time taken by others.
#include <fmt/format.h>

#include <array>

#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

constexpr std::string_view host_group = "Host";

// Fraction of CPU time that the hypervisor gave to other guests since boot. Above it, measurements
// become unsteady.
constexpr double bearable_steal = 0.01;

bool has_hypervisor_flag(const System& system) {
  const std::string flags = system.field("/proc/cpuinfo", "flags").value_or("");
  for (const std::string& flag : words(flags)) {
    if (flag == "hypervisor") return true;
  }
  return false;
}

// Returns the name of the hypervisor's vendor, or "a hypervisor"; empty on bare metal.
std::string hypervisor(const System& system) {
  static constexpr std::array<std::string_view, 8> virtual_makers = {
      "QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Virtual Machine", "Amazon EC2", "Google"};
  const std::string maker = system.read("/sys/class/dmi/id/sys_vendor").value_or("") + " " +
                            system.read("/sys/class/dmi/id/product_name").value_or("");
  std::string kind = system.read("/sys/hypervisor/type").value_or("");
  if (!kind.empty()) return kind;
  const bool flagged = has_hypervisor_flag(system);
  for (const std::string_view name : virtual_makers) {
    // "Amazon EC2" and "Google" also provide bare-metal instances, which do not have the flag.
    const bool also_bare = name == "Amazon EC2" || name == "Google";
    if (maker.find(name) != std::string::npos && (flagged || !also_bare)) return std::string(name);
  }
  return flagged ? "a hypervisor" : "";
}

std::string container(const System& system) {
  if (system.exists("/.dockerenv")) return "Docker";
  if (system.exists("/run/.containerenv")) return "Podman";
  if (system.exists("/.singularity.d")) return "Apptainer";
  return {};
}

Finding check_hypervisor(const System& system, bool calibrated) {
  Finding finding{.id = "hypervisor", .group = std::string(host_group), .what = "Machine"};
  const std::string name = hypervisor(system);
  const std::string box = container(system);
  finding.found = name.empty() ? "bare metal" : fmt::format("virtual ({})", name);
  if (!box.empty()) finding.found += fmt::format(", in a container ({})", box);
  if (name.empty()) return finding;
  if (calibrated) {
    finding.found += "; huddle uses measured figures";
    return finding;
  }
  finding.state = State::limited;
  finding.cost =
      "A hypervisor may hide caches, sockets and NUMA nodes, or share them with other machines: "
      "the topology that the firmware reports is not reliable.";
  finding.remedy = "Let huddle measure which cores share caches:";
  finding.command = "huddle calibrate";
  return finding;
}

// Returns the fraction of CPU time since boot that other guests got, from the line "cpu user nice
// system idle iowait irq softirq steal guest guest_nice".
std::optional<double> steal_share(const System& system) {
  constexpr std::size_t steal_column = 8;
  for (const std::string& line : system.lines("/proc/stat")) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() <= steal_column || fields[0] != "cpu") continue;
    double all = 0;
    for (std::size_t i = 1; i <= steal_column; ++i) {
      all += static_cast<double>(whole_number(fields[i]).value_or(0));
    }
    const auto steal = static_cast<double>(whole_number(fields[steal_column]).value_or(0));
    return all > 0 ? steal / all : 0;
  }
  return std::nullopt;
}

Finding check_steal(const System& system) {
  Finding finding{.id = "steal", .group = std::string(host_group), .what = "Stolen CPU time"};
  const std::optional<double> share = steal_share(system);
  finding.found = share ? fmt::format("{:.1f} % since boot", *share * 100) : "unknown";
  if (share.value_or(0) <= bearable_steal) return finding;
  finding.state = State::limited;
  finding.cost =
      "The host runs other virtual machines on these hardware threads: ranks wait for one that is "
      "not running, and measurements are unsteady.";
  finding.remedy = "Request dedicated cores, or a bare-metal machine.";
  return finding;
}

}  // namespace

std::vector<Finding> check_host(const System& system, bool calibrated) {
  return {check_hypervisor(system, calibrated), check_steal(system)};
}

}  // namespace huddle::doctor
