// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/published.h"

#include <fmt/format.h>

#include <set>

#include "common/error.h"
#include "common/file.h"
#include "model/machine/locate.h"
#include "model/machine/toml_reader.h"

namespace huddle::reproduce {
namespace {

using machine::TomlTable;

constexpr int schema = 1;

double positive(TomlTable& table, const std::string& key) {
  const double value = table.number(key);
  if (value <= 0) table.refuse(key, fmt::format("'{}' must be above 0", key));
  return value;
}

std::optional<Span> published(TomlTable& table) {
  if (table.has("value")) {
    const double value = positive(table, "value");
    return Span{value, value};
  }
  if (!table.has("from") && !table.has("to")) return std::nullopt;
  const Span span{positive(table, "from"), positive(table, "to")};
  if (span.from > span.to) table.refuse("from", "'from' is above 'to'");
  return span;
}

void check(const TomlTable& table, const Figure& figure) {
  switch (figure.kind) {
    case Kind::exact:
    case Kind::ratio:
    case Kind::value:
      if (!figure.published) table.refuse("", "a figure needs its value, or from and to");
      return;
    case Kind::direction:
      if (figure.published) table.refuse("", "a direction has no value: it is a ratio below 1");
      return;
    case Kind::not_comparable:
      if (figure.why.empty()) table.refuse("", "say why it cannot be compared: why = \"...\"");
      return;
  }
}

Figure figure_of(TomlTable& table) {
  Figure figure;
  figure.name = table.text("name");
  figure.where = table.text("where");
  figure.what = table.text("what");
  figure.kind = static_cast<Kind>(table.word("kind", {kind_names.begin(), kind_names.end()}));
  figure.published = published(table);
  figure.unit = table.text_or("unit", "");
  figure.on = table.text_or("on", "");
  figure.why = table.text_or("why", "");
  table.finish();
  check(table, figure);
  return figure;
}

}  // namespace

Paper parse_paper(std::string_view text, const std::string& name) {
  TomlTable document = TomlTable::parse(text, name);
  document.integer("schema", schema, schema);
  Paper paper{document.text("name"), document.text("title"), {}};
  std::set<std::string> seen;
  for (TomlTable& table : document.tables("figure")) {
    paper.figures.push_back(figure_of(table));
    const std::string& figure = paper.figures.back().name;
    if (!seen.insert(figure).second) {
      table.refuse("name", fmt::format("figure '{}' is there twice", figure));
    }
  }
  document.finish();
  return paper;
}

Paper load_paper(const std::string& name) {
  const std::string folder = machine::installed_folder("papers");
  if (folder.empty()) {
    throw FailureError(
        "the papers' figures are not there: share/huddle/papers of the installation");
  }
  const std::string path = folder + name + ".toml";
  return parse_paper(read_text(path), path);
}

}  // namespace huddle::reproduce
