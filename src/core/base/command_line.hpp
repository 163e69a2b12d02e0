#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/base/words.hpp"

namespace slabmark {

/// What a program was told, checked. Nothing in `options` if help was asked for; `help` then holds
/// the text.
template <class Options>
struct Parsed {
  std::optional<Options> options;
  std::string help;
};

/// Parses the command line of a program. Returns the text to print on standard output and exit 0
/// with (help was asked for), or nothing. Bad usage is an InputError whose sentence ends
/// with how to get help; so is a value that is empty. No exit, no printing: in an MPI program only
/// one rank may print. `--version` is for run_program(), which has looked for it before.
std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// Whole numbers that an option takes.
struct CountRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

/// Options whose value is parsed strictly (core/base/number.hpp) into `value`, and whose range and
/// default, which is what `value` holds, --help shows. Parsing throws an InputError that names the
/// option for what is out of range or not of the kind. `value` must live until then.
CLI::Option* add_count(CLI::App& app, const std::string& names, std::uint64_t& value,
                       const std::string& help, CountRange range = {});
CLI::Option* add_count(CLI::App& app, const std::string& names, std::optional<std::uint64_t>& value,
                       const std::string& help, CountRange range = {});
CLI::Option* add_size(CLI::App& app, const std::string& names, std::uint64_t& value,
                      const std::string& help);
CLI::Option* add_real(CLI::App& app, const std::string& names, double& value,
                      const std::string& help);
/// Three numbers x,y,z of at least 1.
CLI::Option* add_triple(CLI::App& app, const std::string& names,
                        std::array<std::uint64_t, 3>& value, const std::string& help,
                        bool has_default = true);

/// An option that takes words with commas between them, or several of them. Parsing throws an
/// InputError for an empty one.
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& help);

/// One option as the functions around add it: `takes` is what --help shows behind its names, and
/// `parse` gets its text and what to call it in a message.
CLI::Option* add_parsed(
    CLI::App& app, const std::string& names, const std::string& takes,
    const std::string& default_text, const std::string& help,
    std::function<void(const std::string& text, const std::string& what)> parse);

/// An option that takes one of a few words, each with what it sets `value` to.
template <class Value>
CLI::Option* add_word(CLI::App& app, const std::string& names, Value& value,
                      const std::string& help, std::vector<Word<Value>> words);

/// What the user gave of the options of `app`, by their names and several values joined by commas,
/// so that a record tells how to repeat the run.
std::map<std::string, std::string> options_given(const CLI::App& app);

template <class Value>
CLI::Option* add_word(CLI::App& app, const std::string& names, Value& value,
                      const std::string& help, std::vector<Word<Value>> words) {
  return add_parsed(app, names, alternatives(names_of(words)), std::string(word_for(value, words)),
                    help, [&value, words](const std::string& text, const std::string& what) {
                      value = parse_word(text, what, words);
                    });
}

}  // namespace slabmark
