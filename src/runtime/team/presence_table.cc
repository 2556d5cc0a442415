// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/presence_table.h"

#include <atomic>
#include <utility>

namespace huddle::team {
namespace {

constexpr std::size_t page_of_words_bytes = 4096;
constexpr std::size_t words_of_a_page = page_of_words_bytes / sizeof(std::uint64_t);
constexpr std::uint64_t absent = 0;

std::atomic_ref<std::uint64_t> word_at(std::byte* base, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base + offset));
}

}  // namespace

PresenceTable::PresenceTable(std::shared_ptr<memory::Arena> arena) : arena_(std::move(arena)) {}

PresenceTable::Entry PresenceTable::enter() {
  const std::scoped_lock lock(mutex_);
  if (free_words_.empty()) add_page();
  const Entry entry{free_words_.back(), ++last_ticket_};
  free_words_.pop_back();
  word_at(arena_->base(), entry.offset).store(entry.ticket, std::memory_order_release);
  return entry;
}

void PresenceTable::leave(Entry entry) {
  const std::scoped_lock lock(mutex_);
  word_at(arena_->base(), entry.offset).store(absent, std::memory_order_release);
  free_words_.push_back(entry.offset);
}

void PresenceTable::add_page() {
  // Room for every word at once: to leave never needs memory.
  free_words_.reserve(words_ + words_of_a_page);
  const memory::Piece page = arena_->allocate(page_of_words_bytes);
  words_ += words_of_a_page;
  for (std::size_t at = page.offset + page_of_words_bytes; at > page.offset;) {
    at -= sizeof(std::uint64_t);
    word_at(arena_->base(), at).store(absent, std::memory_order_relaxed);
    free_words_.push_back(at);
  }
}

bool is_present(std::byte* arena_base, PresenceTable::Entry entry) {
  return word_at(arena_base, entry.offset).load(std::memory_order_acquire) == entry.ticket;
}

}  // namespace huddle::team
