// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/cpu_family.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "common/arithmetic.h"

namespace huddle::machine {
namespace {

// Sizes are those of the server processors. The outstanding misses of Intel's cores are their line
// fill buffers in the optimization manual. Those of AMD's are the lines in flight while a core
// stores to lines that its peer has cached: 5 to 8 for 4 to 16 KiB in
// machines/amd-epyc-2c-a606becc.toml (shared_ns times the lines per time of write_cached).
constexpr CpuFamily before_skylake{"Xeon before Skylake", 32 * KiB, 256 * KiB, 2560 * KiB, 0, 10};
constexpr CpuFamily skylake{"Skylake", 32 * KiB, MiB, 1408 * KiB, 0, 12};
constexpr CpuFamily ice_lake{"Ice Lake", 48 * KiB, 1280 * KiB, 1536 * KiB, 0, 12};
constexpr CpuFamily sapphire_rapids{"Sapphire Rapids", 48 * KiB, 2 * MiB, 1920 * KiB, 0, 16};
constexpr CpuFamily zen_1{"Zen", 32 * KiB, 512 * KiB, 2 * MiB, 4, 8};
constexpr CpuFamily zen_2{"Zen 2", 32 * KiB, 512 * KiB, 4 * MiB, 4, 8};
constexpr CpuFamily zen_3{"Zen 3", 32 * KiB, 512 * KiB, 4 * MiB, 8, 8};
constexpr CpuFamily zen_4{"Zen 4", 32 * KiB, MiB, 4 * MiB, 8, 8};
constexpr CpuFamily unknown_amd{"", 0, 0, 0, 0, 8};
constexpr CpuFamily unknown{"", 0, 0, 0, 0, 10};

constexpr std::array<CpuFamily, 8> families = {before_skylake, skylake, ice_lake, sapphire_rapids,
                                               zen_1,          zen_2,   zen_3,    zen_4};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the word that follows the first occurrence of `before`, or an empty text.
std::string_view word_after(std::string_view text, std::string_view before) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + before.size());
  return rest.substr(0, rest.find(' '));
}

// The fourth character of an EPYC's number is the generation: 7551, 7742, 7R13, 9554.
std::optional<CpuFamily> epyc_family(std::string_view model) {
  const std::string_view number = word_after(model, "epyc ");
  if (number.size() < 4 || !is_digit(number[3])) return std::nullopt;
  constexpr std::array<CpuFamily, 5> generations = {zen_1, zen_2, zen_3, zen_4, zen_4};
  const int generation = number[3] - '0';
  if (generation < 1 || generation > static_cast<int>(generations.size())) return std::nullopt;
  return generations[static_cast<std::size_t>(generation - 1)];
}

// The second digit of a scalable Xeon's number is the generation: 6126, 6242, 8375C, 8480.
std::optional<CpuFamily> xeon_family(std::string_view model) {
  if (model.find("xeon") == std::string_view::npos) return std::nullopt;
  for (const std::string_view kind : {"platinum ", "gold ", "silver ", "bronze "}) {
    const std::string_view number = word_after(model, kind);
    if (number.size() < 4 || !is_digit(number[1])) continue;
    constexpr std::array<CpuFamily, 5> generations = {skylake, skylake, ice_lake, sapphire_rapids,
                                                      sapphire_rapids};
    const int generation = number[1] - '0';
    if (generation < 1 || generation > static_cast<int>(generations.size())) return std::nullopt;
    return generations[static_cast<std::size_t>(generation - 1)];
  }
  for (const std::string_view kind : {" e5", " e7", " x5"}) {
    if (model.find(kind) != std::string_view::npos) return before_skylake;
  }
  return std::nullopt;
}

std::optional<CpuFamily> named_family(std::string_view model) {
  // The longest name first, because "zen" is a part of "zen 2".
  std::optional<CpuFamily> best;
  for (const CpuFamily& family : families) {
    if (model.find(lower_case(family.name)) == std::string_view::npos) continue;
    if (!best || family.name.size() > best->name.size()) best = family;
  }
  return best;
}

}  // namespace

CpuFamily cpu_family(std::string_view cpu_model) {
  const std::string model = lower_case(cpu_model);
  if (const auto family = named_family(model)) return *family;
  if (const auto family = epyc_family(model)) return *family;
  if (const auto family = xeon_family(model)) return *family;
  const bool is_amd = model.find("amd") != std::string::npos;
  const bool is_hygon = model.find("hygon") != std::string::npos;  // its cores are AMD's
  return is_amd || is_hygon ? unknown_amd : unknown;
}

}  // namespace huddle::machine
