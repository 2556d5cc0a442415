// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/contexts.h"

#include <algorithm>

#include "tools/launch/launcher_options.h"

namespace huddle::launch {
namespace {

// Slurm has one program in a step, and a ":" is a word like others.
bool has_separators(Passing launcher) { return launcher != Passing::export_list; }

std::size_t end_of_context(const std::vector<std::string>& words, std::size_t begin,
                           Passing launcher) {
  if (!has_separators(launcher)) return words.size();
  const auto from = words.begin() + static_cast<std::ptrdiff_t>(begin);
  return static_cast<std::size_t>(std::find(from, words.end(), ":") - words.begin());
}

std::size_t program_index(const std::vector<std::string>& words, const AppContext& context,
                          Passing launcher, const IsProgram& is_program) {
  for (std::size_t at = context.begin; at < context.end; ++at) {
    const std::string& word = words[at];
    if (word.starts_with('-')) {
      at += words_taken(launcher, word);
    } else if (is_program(word)) {
      return at;
    }
  }
  return context.end;
}

}  // namespace

std::vector<AppContext> contexts_of(const std::vector<std::string>& words, Passing launcher,
                                    const IsProgram& is_program) {
  std::vector<AppContext> contexts;
  for (std::size_t begin = 1; begin <= words.size();) {
    AppContext context{.begin = begin, .end = end_of_context(words, begin, launcher)};
    context.program = program_index(words, context, launcher, is_program);
    begin = context.end + 1;
    contexts.push_back(context);
  }
  return contexts;
}

}  // namespace huddle::launch
