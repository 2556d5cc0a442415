// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/part.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>

#include "common/error.h"
#include "common/file.h"

namespace huddle::profile {
namespace {

constexpr std::array<char, 8> magic = {'h', 'u', 'd', 'p', 'a', 'r', 't', '1'};

// A multiple of every page size, since blocks of the file are mapped one by one; and of a flow's
// size, so that no flow lies in two blocks.
constexpr std::size_t block_bytes = 64 * 1024;
// The flows begin at a whole number of flows.
constexpr std::size_t flows_begin = 512;
static_assert(sizeof(PartHeader) <= flows_begin && flows_begin % sizeof(Flow) == 0);
static_assert(block_bytes % sizeof(Flow) == 0);

// As they began; of one rank's the last one first.
auto order_of(const Part& part) {
  return std::tuple(part.who.begun_ns, part.who.rank, !part.has_ended);
}

int new_file(const std::string& folder, const Who& who) {
  const std::string path = folder + "/" + who.host + "-" + std::to_string(::getpid());
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

}  // namespace

OwnPart::OwnPart(const std::string& folder, const Who& who)
    : file_(folder.empty() ? -1 : new_file(folder, who)) {
  if (!grow()) throw FailureError("no memory for a page of counts");
  PartHeader& first = header();
  first.begun_ns = who.begun_ns;
  first.rank = who.rank;
  first.ranks = who.ranks;
  first.was_spawned = who.was_spawned ? 1 : 0;
  std::memcpy(first.host.data(), who.host.data(), std::min(who.host.size(), most_host_letters));
  first.magic = magic;
}

OwnPart::~OwnPart() {
  for (const Block& block : blocks_) ::munmap(block.begin, block.bytes);
  if (file_ >= 0) ::close(file_);
}

// Where a file system cannot map its files, or is full, what is counted is in memory only.
bool OwnPart::grow() {
  const std::size_t begin = blocks_.size() * block_bytes;
  void* block = MAP_FAILED;
  // Allocated, and not only made longer: on a full disk a mapped page would kill the program.
  if (file_ >= 0 &&
      ::posix_fallocate(file_, static_cast<off_t>(begin), static_cast<off_t>(block_bytes)) == 0) {
    block = ::mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                   static_cast<off_t>(begin));
  }
  if (block == MAP_FAILED) {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    block =
        ::mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (block == MAP_FAILED) return false;
  blocks_.push_back({static_cast<std::byte*>(block), block_bytes});
  return true;
}

Flow* OwnPart::add(const Flow& flow) {
  const std::size_t at = flows_begin + static_cast<std::size_t>(header().flows) * sizeof(Flow);
  if (at / block_bytes == blocks_.size() && !grow()) return nullptr;
  auto* const place = blocks_[at / block_bytes].begin + at % block_bytes;
  Flow* const added = std::construct_at(reinterpret_cast<Flow*>(place), flow);
  ++header().flows;
  return added;
}

void OwnPart::end() {
  header().has_ended = 1;
  if (file_ < 0) return;
  // Others read it through another client of a network's file system.
  for (const Block& block : blocks_) ::msync(block.begin, block.bytes, MS_SYNC);
}

std::string OwnPart::bytes() const {
  std::string text;
  for (const Block& block : blocks_) {
    text.append(reinterpret_cast<const char*>(block.begin), block.bytes);
  }
  return text;
}

std::optional<Part> part_from(std::string_view bytes) {
  PartHeader header;
  if (bytes.size() < flows_begin) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != magic) return std::nullopt;
  header.host.back() = '\0';
  Part part{
      {header.rank, header.ranks, header.begun_ns, header.was_spawned != 0, header.host.data()},
      header.has_ended != 0,
      header.left_out,
      {}};
  bytes.remove_prefix(flows_begin);
  part.flows.resize(std::min<std::size_t>(header.flows, bytes.size() / sizeof(Flow)));
  if (!part.flows.empty()) {  // of nothing there is no address
    std::memcpy(part.flows.data(), bytes.data(), part.flows.size() * sizeof(Flow));
  }
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < header.ranks; };
  const bool sound = is_rank(header.rank) &&
                     std::all_of(part.flows.begin(), part.flows.end(), [&](const Flow& flow) {
                       return (is_rank(flow.from) || flow.from == outside_world) &&
                              (is_rank(flow.to) || flow.to == outside_world);
                     });
  if (!sound) return std::nullopt;
  return part;
}

std::vector<Part> read_parts(const std::string& folder) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  std::vector<Part> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (auto part = part_from(read_text(entry.path().string(), most_bytes))) {
      parts.push_back(std::move(*part));
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return order_of(a) < order_of(b); });
  // Where its file could not be made longer, a rank has handed over the whole of it as well.
  const auto same = [](const Part& a, const Part& b) {
    return a.who.begun_ns == b.who.begun_ns && a.who.rank == b.who.rank;
  };
  parts.erase(std::unique(parts.begin(), parts.end(), same), parts.end());
  return parts;
}

}  // namespace huddle::profile
