// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Parses the command line. The only file that includes CLI11.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <map>
#include <span>
#include <sstream>

#include "common/text.h"
#include "huddle/huddle.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/interface.h"
#include "tools/cli/terminal_text.h"
#include "tools/launch/launch_plan.h"

namespace huddle::cli {
namespace {

std::string option_part(const std::string& word) { return word.substr(0, word.find('=')); }

// Settings given as flags, by key.
using FlagValues = std::map<std::string, std::string>;

// Rejects an empty value: "--machine $NODE" with an empty NODE must not mean "no --machine".
std::string reject_empty(const std::string& value) {
  return value.empty() ? "the value is empty; is a variable unset?" : std::string();
}

// Checks for a whole number in the range.
CLI::Validator whole_number_check(int least, int most) {
  return CLI::Validator(
      [least, most](const std::string& value) {
        int number = 0;
        const char* const end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        const bool is_one = error == std::errc() && stop == end;
        if (is_one && number >= least && number <= most) return std::string();
        return fmt::format("'{}' is not a whole number from {} to {}", value, least, most);
      },
      "");
}

void declare_setting(CLI::App& app, const settings::Setting& setting, FlagValues& values,
                     const std::string& group) {
  const std::string key(setting.key);
  app.add_option_function<std::string>(
         settings::flag_name(key),
         [&values, key](const std::string& value) { values[key] = value; },
         std::string(setting.help))
      ->check(reject_empty)
      ->type_name(std::string(setting.placeholder))
      ->take_last()
      ->group(group);
}

void declare_everywhere(CLI::App& app, FlagValues& values) {
  for (const settings::Setting& setting : settings::table()) {
    if (setting.flag_everywhere) declare_setting(app, setting, values, appearance_heading);
  }
}

// The targets of commands that take another command line, by name.
using Rests = std::map<std::string, std::vector<std::string>*>;

// The command of each CLI11 object.
using CommandOfApp = std::map<const CLI::App*, Command*>;

class ParserOptions : public Options {
 public:
  ParserOptions(CLI::App& app, FlagValues& values, Rests& rests)
      : app_(app), values_(values), rests_(rests) {}

  void flag(const std::string& names, bool& target, const std::string& help) override {
    app_.add_flag(names, target, help);
  }
  void text(const std::string& names, std::string& target, const std::string& placeholder,
            const std::string& help) override {
    app_.add_option(names, target, help)->check(reject_empty)->type_name(placeholder);
  }
  void optional_text(const std::string& names, std::string& target, const std::string& fallback,
                     const std::string& placeholder, const std::string& help) override {
    app_.add_option_function<std::vector<std::string>>(
            names,
            [&target, fallback](const std::vector<std::string>& values) {
              target = values.empty() || values.front().empty() ? fallback : values.front();
            },
            help)
        ->expected(0, 1)
        ->type_name(placeholder);
  }
  void number(const std::string& names, int& target, int least, int most,
              const std::string& placeholder, const std::string& help) override {
    app_.add_option(names, target, help_of_number(help, least, most))
        ->check(whole_number_check(least, most))
        ->type_name(placeholder);
  }
  void setting(const std::string& key) override {
    declare_setting(app_, settings::setting_named(key), values_, options_heading);
  }
  void positional(const std::string& name, std::string& target, const std::string& help) override {
    app_.add_option(name, target, help)->check(reject_empty)->type_name("");
  }
  void rest(const std::string& name, std::vector<std::string>& target,
            const std::string& help) override {
    app_.add_option(name, target, help)->type_name("");
    rests_[app_.get_name()] = &target;
  }
  void exclude(const std::string& name, const std::string& other) override {
    app_.get_option(name)->excludes(app_.get_option(other));
  }
  void need(const std::string& name, const std::string& other) override {
    app_.get_option(name)->needs(app_.get_option(other));
  }

 private:
  CLI::App& app_;
  FlagValues& values_;
  Rests& rests_;
};

// Translates words that other programs use as commands: "help topo" is "topo --help".
std::vector<std::string> spelled_out(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "version" && words.size() == 1) return {"--version"};
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.insert(words.empty() ? words.end() : words.begin() + 1, "--help");
  return words;
}

// Returns the name as typed, without the program: "bench engine".
std::string full_name(const CLI::App& app) {
  const CLI::App* const above = app.get_parent();
  if (above == nullptr) return "";
  const std::string before = full_name(*above);
  return before.empty() ? app.get_name() : before + " " + app.get_name();
}

// Returns all subcommands; get_subcommands() returns only those that were given.
std::vector<const CLI::App*> commands_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps) names.push_back(app->get_name());
  return names;
}

// Returns the position of the first word that is neither an option of `app` nor the value of one.
std::size_t end_of_options(const CLI::App& app, const std::vector<std::string>& words,
                           std::size_t at) {
  for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
    const CLI::Option* const option = app.get_option_no_throw(option_part(words[at]));
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    if (takes_value && option_part(words[at]) == words[at]) ++at;
  }
  return std::min(at, words.size());
}

// Lists commands by their one-line summaries and begins a command's own help with its description.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(const CommandOfApp& commands, int columns)
      : commands_(commands),
        columns_(std::min(columns, widest)),
        name_columns_(columns_ - wide_names < least_text_columns ? narrow_names : wide_names),
        text_columns_(std::max(columns_ - name_columns_, least_text_columns)) {
    column_width(static_cast<std::size_t>(name_columns_));
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
  }
  std::string make_description(const CLI::App* app) const override {
    const auto found = commands_.find(app);
    return fitted(found == commands_.end() ? app->get_description()
                                           : found->second->description()) +
           "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    return fitted(Formatter::make_footer(app));
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string name = "  " + sub->get_name();
    const int columns = name_columns_ + text_columns_;
    if (name_columns_ == wide_names) {
      return wrap(padded(name, name_columns_), sub->get_description(), name_columns_, columns);
    }
    const std::string indentation(static_cast<std::size_t>(name_columns_), ' ');
    return name + "\n" + wrap(indentation, sub->get_description(), name_columns_, columns);
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = Formatter::make_help(app, std::move(name), mode);
    // Merge two empty lines between groups.
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) {
      text.erase(at, 1);
    }
    return text;
  }
  // Breaks the text; CLI11 indents it after a line break.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = wrap("", option->get_description(), 0, text_columns_);
    text.pop_back();
    return text;
  }
  // Returns only the placeholder: the help text contains ranges, and the error names exclusions.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? type : " " + type;
  }

 private:
  static constexpr int widest = 80;  // longer lines of text are hard to read
  // Names are printed beside their texts, or above them if the width does not suffice. CLI11 puts
  // names that are longer than their column on a separate line.
  static constexpr int wide_names = 34;
  static constexpr int narrow_names = 4;
  static constexpr int least_text_columns = 20;

  // Breaks lines, except for indented ones, which are examples for copying.
  std::string fitted(const std::string& text) const {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      result += line.starts_with(' ') ? line + "\n" : wrap("", line, 0, columns_);
    }
    return result;
  }

  const CommandOfApp& commands_;
  int columns_;
  int name_columns_;
  int text_columns_;
};

// Returns the option, with which CLI11's errors begin: "--color: 1 required TEXT missing".
std::string first_word(const CLI::Error& error) {
  const std::string text = error.what();
  return text.substr(0, text.find(':'));
}

// Rewords errors such as "--radix requires --fabric".
std::string needed_text(const CLI::RequiresError& error) {
  constexpr std::string_view verb = " requires ";
  std::string text = error.what();
  const std::size_t at = text.find(verb);
  return at == std::string::npos ? text : text.replace(at, verb.size(), " needs ");
}

// Rewords errors such as "--json excludes --output".
std::string exclusion_text(const CLI::ExcludesError& error) {
  constexpr std::string_view verb = " excludes ";
  std::string text = error.what();
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  return text.replace(at, verb.size(), " and ") + " cannot be given together";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Suggests a subcommand that has the option.
std::string no_option_text(const CLI::App& command, const std::string& word) {
  const std::string name = option_part(word);
  if (command.get_parent() == nullptr) {
    return fmt::format("'huddle' has no option '{}'{}", name,
                       did_you_mean(name, option_names(command)));
  }
  const std::string text = fmt::format("'huddle {}' has no option '{}'", full_name(command), name);
  for (const CLI::App* below : commands_below(command)) {
    if (below->get_option_no_throw(name) != nullptr) {
      return fmt::format("{}; 'huddle {}' has", text, full_name(*below));
    }
  }
  return text + did_you_mean(name, option_names(command));
}

// The whole command line as CLI11 sees it.
class Parser {
 public:
  explicit Parser(const std::vector<std::unique_ptr<Command>>& commands) {
    app_.formatter(std::make_shared<HelpFormatter>(commands_, plain_console().columns));
    app_.footer(std::string(program_footer));
    app_.set_help_flag(help_flag, help_text);
    app_.set_version_flag(version_flag, fmt::format("huddle {}", huddle_version()), version_text);
    app_.require_subcommand(0, 1);
    declare_everywhere(app_, values_);
    for (const auto& command : commands) add(app_, *command);
  }

  // Returns the command to run, or null after printing help or the version.
  Command* parse(int argc, char** argv) {
    std::vector<std::string> words = own_words(spelled_out({argv + 1, argv + argc}));
    std::reverse(words.begin(), words.end());  // the order that CLI11 expects
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForVersion& version) {
      Console{}.print(fmt::format("{}\n", version.what()));
      return nullptr;
    } catch (const CLI::CallForHelp&) {
      if (!commands_below(parsed()).empty() && !parsed().remaining().empty()) {
        throw UsageError(extras_text() + hint());
      }
      Console{}.print(app_.help());
      return nullptr;
    } catch (const CLI::ExtrasError&) {
      throw UsageError(extras_text() + hint());
    } catch (const CLI::ArgumentMismatch& error) {
      throw UsageError(first_word(error) + " needs one value" + hint());
    } catch (const CLI::ExcludesError& error) {
      throw UsageError(exclusion_text(error) + hint());
    } catch (const CLI::RequiresError& error) {
      throw UsageError(needed_text(error) + hint());
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what() + hint());
    }
    refuse_lost_options();
    const auto command = commands_.find(&parsed());
    if (command != commands_.end()) return command->second;
    Console{}.print(app_.help());
    return nullptr;
  }

  const FlagValues& values() const { return values_; }

 private:
  // Moves the words of another command line to their target and returns the remaining ones.
  std::vector<std::string> own_words(std::vector<std::string> words) {
    const std::size_t name = end_of_options(app_, words, 0);
    if (name == words.size()) return words;
    const auto rest = rests_.find(words[name]);
    if (rest == rests_.end()) return words;
    const CLI::App& command = *app_.get_subcommand(words[name]);
    const auto begin =
        words.begin() + static_cast<std::ptrdiff_t>(end_of_options(command, words, name + 1));
    const bool marked = begin != words.end() && *begin == "--";
    rest->second->assign(marked ? begin + 1 : begin, words.end());
    words.erase(begin, words.end());
    return words;
  }

  void add(CLI::App& above, Command& command) {
    CLI::App* const app = above.add_subcommand(command.name(), command.summary());
    commands_[app] = &command;
    app->group("Commands");
    app->set_help_flag(help_flag, help_text);
    app->require_subcommand(0, 1);
    ParserOptions options(*app, values_, rests_);
    command.declare(options);
    declare_everywhere(*app, values_);
    app->footer("Examples:\n" + command.examples());
    for (const auto& below : command.subcommands()) add(*app, *below);
  }

  // Returns the given command, the lowest of several; without one the program itself.
  const CLI::App& parsed() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  std::string hint() const {
    const std::string name = full_name(parsed());
    return fmt::format("\nTry 'huddle {}--help'.", name.empty() ? "" : name + " ");
  }

  // Rejects options of a parent that does not run: `huddle bench --quick engine`.
  void refuse_lost_options() const {
    for (const CLI::App* app = parsed().get_parent(); app != nullptr; app = app->get_parent()) {
      for (const CLI::Option* option : app->parse_order()) {
        if (option->get_group() == appearance_heading) continue;
        throw UsageError(misplaced_text(option->get_name(), *app) + hint());
      }
    }
  }

  // Names the unknown word and suggests a similar one.
  std::string extras_text() const {
    const CLI::App& command = parsed();
    for (const CLI::App* app = command.get_parent(); app != nullptr; app = app->get_parent()) {
      const std::vector<std::string> before = app->remaining(false);
      if (!before.empty() && before.front().starts_with('-')) {
        return misplaced_text(before.front(), *app);
      }
    }
    const std::string extra = app_.remaining(true).front();
    if (extra.starts_with('-')) {
      const bool has_rest = rests_.find(command.get_name()) != rests_.end();
      return no_option_text(command, extra) +
             (has_rest ? "; options of COMMAND follow COMMAND" : "");
    }
    const std::vector<std::string> below = names_of(commands_below(command));
    const std::string name = full_name(command);
    if (below.empty()) {
      return fmt::format("'huddle {}' does not accept the argument '{}'", name, extra);
    }
    return fmt::format("unknown command '{}{}'{}", name.empty() ? "" : name + " ", extra,
                       did_you_mean(extra, below));
  }

  // Returns the error for an option before the command, after one of its parents.
  std::string misplaced_text(const std::string& word, const CLI::App& above) const {
    const CLI::App& command = parsed();
    if (command.get_option_no_throw(option_part(word)) == nullptr) {
      return no_option_text(above.get_option_no_throw(option_part(word)) ? command : above, word);
    }
    return fmt::format("{0} must follow the command: huddle {1} {0}", word, full_name(command));
  }

  CommandOfApp commands_;
  CLI::App app_{std::string(program_description), "huddle"};
  FlagValues values_;
  Rests rests_;
};

// In the order of the help.
constexpr std::array<NamedCommand, 17> command_table = {{{"run", make_run_command},
                                                         {"topo", make_topo_command},
                                                         {"calibrate", make_calibrate_command},
                                                         {"explain", make_explain_command},
                                                         {"map", make_map_command},
                                                         {"profile", make_profile_command},
                                                         {"watch", make_watch_command},
                                                         {"doctor", make_doctor_command},
                                                         {"bench", make_bench_command},
                                                         {"report", make_report_command},
                                                         {"distance", make_distance_command},
                                                         {"schedule", make_schedule_command},
                                                         {"sim", make_sim_command},
                                                         {"reproduce", make_reproduce_command},
                                                         {"paths", make_paths_command},
                                                         {"ucx", make_ucx_command},
                                                         {"config", make_config_command}}};

// Returns the command that the first word names, or else all commands. Declaring the options of the
// others would take longer than `huddle run` takes for everything else.
std::vector<std::unique_ptr<Command>> commands_for(int argc, char** argv) {
  for (const NamedCommand& command : command_table) {
    if (argc < 2 || command.name != argv[1]) continue;
    std::vector<std::unique_ptr<Command>> only;
    only.push_back(command.make());
    return only;
  }
  return all_commands();
}

// Below a launcher only the first rank warns.
void warn_of_ignored_settings(const Context& context, const std::vector<std::string>& environment) {
  if (launch::is_later_rank(environment)) return;
  for (const std::string& mistake : context.ignored_settings) {
    context.console.note(fmt::format("huddle: warning: ignored: {}", mistake));
  }
}

int parse_and_run(int argc, char** argv, bool pipe_signal_was_ignored) {
  const auto commands = commands_for(argc, argv);
  Parser parser(commands);
  Command* const command = parser.parse(argc, argv);
  if (command == nullptr) return static_cast<int>(ExitCode::fine);
  Context context;
  const settings::Sources sources = settings::process_sources();
  const settings::Report ignore = [&context](const std::string& mistake) {
    context.ignored_settings.push_back(mistake);
  };
  const settings::Report refuse = [](const std::string& mistake) { throw InputError(mistake); };
  context.settings =
      settings::resolve(sources, command->ignores_wrong_settings() ? ignore : refuse, ignore);
  for (const auto& [key, value] : parser.values()) {
    settings::override_by_flag(context.settings, key, value);
  }
  context.console = make_console(context.settings);
  context.pipe_signal_was_ignored = pipe_signal_was_ignored;
  warn_of_ignored_settings(context, sources.environment);
  return static_cast<int>(command->run(context));
}

}  // namespace

std::span<const NamedCommand> named_commands() { return command_table; }

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const NamedCommand& command : command_table) commands.push_back(command.make());
  return commands;
}

int run_command_line(int argc, char** argv) {
  // A closed pipe ("| head") ends huddle quietly, even if the caller ignores SIGPIPE.
  const bool pipe_signal_was_ignored = std::signal(SIGPIPE, SIG_DFL) == SIG_IGN;
  try {
    return parse_and_run(argc, argv, pipe_signal_was_ignored);
  } catch (const Error& error) {
    plain_console().note(fmt::format("huddle: {}", error.what()));
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    plain_console().note(fmt::format("huddle: {}", error.what()));
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace huddle::cli
