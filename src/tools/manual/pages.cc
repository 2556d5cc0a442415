// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "tools/manual/manual.h"

namespace huddle::manual {
namespace {

// Returns the escape of a character that has a meaning in roff or a different glyph in its fonts.
std::string escaped(char c) {
  constexpr std::string_view taken = "\\'`^~\"";
  constexpr std::string_view names[] = {"\\e", "\\(aq", "\\(ga", "\\(ha", "\\(ti", "\\(dq"};
  const std::size_t at = taken.find(c);
  return at == std::string_view::npos ? std::string(1, c) : std::string(names[at]);
}

// Returns whether a word such as "--peers" is an option, also after an opening bracket or quote.
bool is_option(std::string_view word) {
  const auto first = std::find_if_not(word.begin(), word.end(), [](char c) {
    return c == '(' || c == '\'' || c == '"' || c == '[';
  });
  return first != word.end() && *first == '-' && first + 1 != word.end();
}

// Escapes a line that roff would read as a request.
std::string guarded(const std::string& line) {
  return !line.empty() && line.front() == '.' ? "\\&" + line : line;
}

}  // namespace

std::string literal(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '-' ? "\\-" : escaped(c);
  return result;
}

std::string prose(std::string_view text) {
  std::string result;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!result.empty()) result += ' ';
    if (is_option(word)) {
      result += literal(word);
      continue;
    }
    for (const char c : word) result += escaped(c);
  }
  return guarded(result);
}

std::string bold(std::string_view text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + literal(text) + "\\fR"; }

std::string paragraphs(std::string_view text) {
  std::string result;
  bool shown_as_it_is = false;
  bool after_a_gap = false;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with(' ');
    if (shown_as_it_is && !indented) result += ".EE\n";
    const bool begins = after_a_gap || indented != shown_as_it_is;
    const bool opens = indented && !shown_as_it_is;
    after_a_gap = line.empty();
    shown_as_it_is = indented;
    if (line.empty()) continue;
    if (begins && !result.empty()) result += ".PP\n";
    if (opens) result += ".EX\n";
    result += (indented ? guarded(literal(line)) : prose(line)) + "\n";
  }
  return result + (shown_as_it_is ? ".EE\n" : "");
}

std::string section(std::string_view heading, std::string_view text) {
  return fmt::format(".SH {}\n{}", heading, text);
}

std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, prose(text));
}

namespace {

using cli::Argument;
using cli::Interface;
using cli::Listed;
using cli::ProgramInterface;

constexpr int commands_section = 1;
constexpr int interface_section = 3;
constexpr int overview_section = 7;
constexpr const char* settings_name = "huddle-settings";

// Returns the name of a command's page: "huddle-bench-engine" for "bench engine".
std::string page_name(const std::string& command) {
  std::string name = "huddle-" + command;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// Returns the names of an argument and its placeholder, for example "-n, --ranks N".
std::string term(const Argument& argument) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names) names.push_back(bold(name));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (argument.placeholder.empty()) return text;
  const std::string value = italic(argument.placeholder);
  return text + (argument.value_optional ? fmt::format(" [{}]", value) : " " + value);
}

std::string help_of(const Argument& argument) {
  if (argument.value != cli::Value::list) return argument.help;
  return fmt::format("{}; OP is one of {}", argument.help, fmt::join(argument.words, ", "));
}

std::string items(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) text += item(term(argument), help_of(argument));
  return text;
}

std::string options_section(const Interface& interface) {
  return section("OPTIONS", items(interface.options)) +
         fmt::format(".SS {}\n", prose(cli::appearance_heading)) + items(interface.appearance);
}

std::string arguments_section(const Interface& interface) {
  std::string text;
  for (const Argument& argument : interface.positionals) {
    text += item(italic(argument.placeholder), argument.help);
  }
  if (interface.rest) text += item(italic(interface.rest->placeholder), interface.rest->help);
  return text.empty() ? text : section("ARGUMENTS", text);
}

std::string synopsis(const Interface& interface) {
  const std::string name = bold("huddle " + interface.name);
  std::string text = name + " [" + italic("OPTION") + "...]";
  for (const Argument& argument : interface.positionals) {
    text += " [" + italic(argument.placeholder) + "]";
  }
  if (interface.rest) text += " [" + italic(interface.rest->placeholder) + "...]";
  for (const Listed& below : interface.subcommands) {
    text += "\n.br\n" + bold("huddle " + interface.name + " " + below.name) + " ...";
  }
  return section("SYNOPSIS", text + "\n");
}

// Returns the help's text below the options. Exit statuses get a separate section in a page.
std::string footer_sections(std::string_view heading, const std::string& footer) {
  constexpr std::string_view mark = "Exit status:";
  const std::size_t at = std::min(footer.find(mark), footer.size());
  std::string text = section(heading, paragraphs(footer.substr(0, at)));
  if (at == footer.size()) return text;
  return text + section("EXIT STATUS",
                        paragraphs(footer.substr(footer.find_first_not_of(' ', at + mark.size()))));
}

std::string see_also(const ProgramInterface& all, const std::string& own_name) {
  std::vector<std::string> references;
  const auto add = [&](const std::string& name, int section) {
    if (name != own_name) references.push_back(reference(name, section));
  };
  add("huddle", commands_section);
  for (const Interface& command : all.commands) add(page_name(command.name), commands_section);
  add(settings_name, overview_section);
  references.push_back(reference("huddle", interface_section));
  return section("SEE ALSO", fmt::format("{}\n", fmt::join(references, ",\n")));
}

// Returns the list of subcommands, each with a reference to its page. `before` contains the words
// that precede their names.
std::string commands_list(const std::string& before, const std::vector<Listed>& commands) {
  std::string text;
  for (const Listed& command : commands) {
    text += item(reference(page_name(before + command.name), commands_section), command.summary);
  }
  return text.empty() ? text : section("COMMANDS", text);
}

Page program_page(const ProgramInterface& all, const std::string& version) {
  Page page{.name = "huddle", .section = commands_section, .text = {}};
  page.text = opening(page, version, all.program.summary) +
              section("SYNOPSIS", bold("huddle") + " [" + italic("OPTION") + "...] [" +
                                      italic("COMMAND") + "]\n") +
              section("DESCRIPTION", paragraphs(all.program.description)) +
              commands_list("", all.program.subcommands) + options_section(all.program) +
              footer_sections("EXAMPLES", all.program.footer) + see_also(all, page.name);
  return page;
}

Page command_page(const ProgramInterface& all, const Interface& command,
                  const std::string& version) {
  Page page{.name = page_name(command.name), .section = commands_section, .text = {}};
  page.text = opening(page, version, command.summary) + synopsis(command) +
              section("DESCRIPTION", paragraphs(command.description)) +
              commands_list(command.name + " ", command.subcommands) + arguments_section(command) +
              options_section(command) + footer_sections("EXAMPLES", command.footer) +
              see_also(all, page.name);
  return page;
}

std::string kind_text(settings::Kind kind) {
  switch (kind) {
    case settings::Kind::machine:
      return "A value that contains a slash or ends in .toml is a path; in a configuration file, a "
             "relative path is relative to the folder of that file.";
    case settings::Kind::word:
      return "";
    case settings::Kind::toggle:
      return "1 and 0 are equivalent to on and off.";
    case settings::Kind::output:
      return "1 and 0 are equivalent to on and off. A value that ends in .json is the path of a "
             "file.";
    case settings::Kind::count:
      return "A whole number.";
    case settings::Kind::size:
      return "Bytes, as in 64K or 1.5G.";
    case settings::Kind::list:
      return "Names in lower case, or as MPI spells them.";
    case settings::Kind::forcing:
      return "Collectives in lower case, or as MPI spells them; sizes as in 'huddle explain', both "
             "ends included (4K-1M, 4K-, -1M). If the algorithm cannot run a call, the one with "
             "the shortest predicted time runs; --stats lists and counts such calls. If ranks have "
             "different values, the value of the lowest rank applies.";
  }
  return "";
}

// Returns for example "Flag: --heap of huddle run, huddle bench."
std::string flag_text(const ProgramInterface& all, const settings::Setting& setting) {
  const std::string flag = settings::flag_name(setting.key);
  if (setting.flag_everywhere) return fmt::format("Option: {} of every command.", flag);
  std::vector<std::string> commands;
  for (const Interface& command : all.commands) {
    for (const Argument& option : command.options) {
      if (option.is_setting && option.names.front() == flag)
        commands.push_back("huddle " + command.name);
    }
  }
  return commands.empty() ? "" : fmt::format("Option: {} of {}.", flag, fmt::join(commands, ", "));
}

std::string setting_item(const ProgramInterface& all, const settings::Setting& setting) {
  std::string text = item(bold(setting.key) + " " + italic(setting.placeholder), setting.help);
  std::string names;
  if (!setting.names.empty()) names = fmt::format("OP: {}.", fmt::join(setting.names, ", "));
  for (const std::string& line :
       {names, kind_text(setting.kind),
        fmt::format("Environment: {}.", settings::environment_name(setting.key)),
        flag_text(all, setting),
        setting.fallback.empty() ? "" : fmt::format("Default: {}.", setting.fallback)}) {
    if (!line.empty()) text += fmt::format(".br\n{}\n", prose(line));
  }
  return text;
}

Page settings_page(const ProgramInterface& all, const std::string& version) {
  Page page{.name = settings_name, .section = overview_section, .text = {}};
  std::string settings;
  for (const settings::Setting& setting : settings::table()) settings += setting_item(all, setting);
  page.text = opening(page, version, "settings of huddle, and where to set them") +
              section("DESCRIPTION", paragraphs(cli::order_of_sources)) +
              section("SETTINGS", settings) + see_also(all, page.name);
  return page;
}

}  // namespace

std::string opening(const Page& page, const std::string& version, std::string_view summary) {
  std::string title;
  for (const char c : page.name)
    title += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH {} {} \"\" \"huddle {}\" \"huddle\"\n.nh\n.ad l\n", literal(title),
                     page.section, version) +
         section("NAME", fmt::format("{} \\- {}\n", literal(page.name), prose(summary)));
}

std::string reference(const std::string& name, int section) {
  return fmt::format("{}({})", bold(name), section);
}

std::vector<Page> pages(const ProgramInterface& all, const std::string& version) {
  std::vector<Page> pages = {program_page(all, version)};
  for (const Interface& command : all.commands) {
    pages.push_back(command_page(all, command, version));
  }
  pages.push_back(settings_page(all, version));
  return pages;
}

}  // namespace huddle::manual
