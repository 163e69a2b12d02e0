#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/words.hpp"

namespace slabmark {

/// The options given to a program, checked. Nothing in `options` if help was asked for; `help` then
/// holds the text.
template <class Options>
struct Parsed {
  std::optional<Options> options;
  std::string help;
};

/// Whole numbers that an option accepts, and what the help calls the number.
struct CountRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  const char* value = "N";
};

struct OptionModel;
struct CommandModel;

/// An option, flag or argument of a Command, which keeps it. The functions that say more of it
/// return the handle again.
class OptionHandle {
 public:
  explicit OptionHandle(OptionModel& model) : model_(&model) {}

  OptionHandle required();
  OptionHandle excludes(OptionHandle other);
  OptionHandle existing_file();
  /// The value that counts if none is given, where the variable does not hold it.
  OptionHandle default_text(const std::string& text);
  /// An earlier name of the option. It is still accepted, and a line on standard error names the
  /// new one.
  OptionHandle retired(const std::string& name);
  /// Neither help nor description shows the option.
  OptionHandle hidden();

  bool is_given() const;
  /// The texts that were given.
  const std::vector<std::string>& given() const;

 private:
  OptionModel* model_;
};

/// A command of a program: its options, flags and arguments, and the commands below it. `names` are
/// such as "-o,--output", and `kind` is what the help calls the value, such as "FILE". Variables
/// must live until the command line is parsed; what they hold before is the default, which the help
/// shows. Parsing throws an InputError that names the option for a value that it does not accept.
class Command {
 public:
  using Parse = std::function<void(const std::string& text, const std::string& what)>;

  explicit Command(CommandModel& model) : model_(&model) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// A command below this one, of which the user gives one. `summary` is a phrase.
  Command& add_command(const std::string& name, const std::string& summary);
  /// The help's name for the commands below this one, in place of COMMAND.
  void call_commands(const char* kind);

  OptionHandle add_flag(const std::string& names, bool& value, const std::string& help);
  OptionHandle add_flag(const std::string& names, std::function<void()> when_given,
                        const std::string& help);
  OptionHandle add_text(const std::string& names, const char* kind, std::string& value,
                        const std::string& help);
  /// May be repeated, and have several values each time.
  OptionHandle add_texts(const std::string& names, const char* kind,
                         std::vector<std::string>& values, const std::string& help);
  OptionHandle add_each(const std::string& names, const char* kind,
                        std::function<void(const std::string& text)> take, const std::string& help);
  /// Words with commas between them, or several of them.
  OptionHandle add_list(const std::string& names, std::vector<std::string>& values,
                        const std::string& help);
  OptionHandle add_argument(const char* name, std::string& value, const std::string& help);
  OptionHandle add_arguments(const char* name, std::vector<std::string>& values,
                             const std::string& help);

  /// The following are parsed strictly (core/base/number.hpp).
  OptionHandle add_count(const std::string& names, std::uint64_t& value, const std::string& help,
                         CountRange range = {});
  OptionHandle add_count(const std::string& names, std::optional<std::uint64_t>& value,
                         const std::string& help, CountRange range = {});
  OptionHandle add_size(const std::string& names, std::uint64_t& value, const std::string& help);
  OptionHandle add_real(const std::string& names, const char* kind, double& value,
                        const std::string& help);
  /// Three numbers of at least 1, as 180,128,128 or 180x128x128.
  OptionHandle add_triple(const std::string& names, std::array<std::uint64_t, 3>& value,
                          const std::string& help, bool has_default = true);
  /// One of a few words, each with what it sets `value` to.
  template <class Value>
  OptionHandle add_word(const std::string& names, Value& value, const std::string& help,
                        std::vector<Word<Value>> words);
  /// One option as the functions around add it: `parse` gets its text and what to call it in a
  /// message. `choices` may be empty: any text of the kind.
  OptionHandle add_parsed(const std::string& names, const char* kind,
                          std::vector<std::string> choices, const std::string& help, Parse parse);

  /// The option of this name.
  OptionHandle option(const std::string& name) const;
  /// Takes options away that functions for several programs have added.
  void remove(std::initializer_list<const char*> names);

  /// True if the user gave this command.
  bool is_given() const;
  /// The last word of its name.
  std::string word() const;
  /// The options that the user gave, by their names and several values joined by commas, so that a
  /// record tells how to repeat the run.
  std::map<std::string, std::string> options_given() const;

 private:
  OptionHandle add_number(const std::string& names, const std::string& help, CountRange range,
                          std::function<void(std::uint64_t)> set);

  CommandModel* model_;
};

/// The command line of a program of this name, such as "slabmark bench".
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& about);
  ~CommandLine();

  /// The command of the program itself.
  Command& root();

  /// Parses what was given. Returns the text to print on standard output and exit 0 with (help was
  /// asked for, or the description as JSON by --describe-options), or nothing. Bad usage is an
  /// InputError whose sentence ends with how to get help; so is a value that is empty. No exit, and
  /// nothing on standard output: in an MPI program only one rank may print. `--version` is for
  /// run_program(), which has looked for it before.
  std::optional<std::string> parse(int argc, const char* const* argv);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

template <class Value>
OptionHandle Command::add_word(const std::string& names, Value& value, const std::string& help,
                               std::vector<Word<Value>> words) {
  const std::string now(word_for(value, words));
  auto choices = names_of(words);
  return add_parsed(
             names, "WORD", std::move(choices), help,
             [&value, words = std::move(words)](const std::string& text, const std::string& what) {
               value = parse_word(text, what, words);
             })
      .default_text(now);
}

}  // namespace slabmark
