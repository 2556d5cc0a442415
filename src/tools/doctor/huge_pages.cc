// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include "common/huge_pages.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
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
      "Large shared buffers take a page fault for every small page when they are first "
      "touched, and random access to them misses the TLB more often. Where that is felt the shared "
      "heap, by which ranks reach into each other's arrays, stays off if HUDDLE_HEAP is 'auto'.";
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
      "Programs' own large arrays miss the TLB more often; copies out of them are slower.";
  add_remedy(chosen, "madvise", private_file, finding);
  return finding;
}

}  // namespace

std::vector<Finding> check_huge_pages(const System& system) {
  return {check_shared(system), check_private(system)};
}

}  // namespace huddle::doctor
