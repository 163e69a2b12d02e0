/// slabmark: the one command. It replaces itself with the executable of a verb, or with the lab, so
/// that a launcher's ranks, signals and environment reach these as if they had been started.
///
///   mpiexec -n 4 slabmark bench decomp --map f.nc
///   slabmark report records.jsonl

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/launched_rank.hpp"
#include "core/base/nearest.hpp"
#include "core/base/printable.hpp"
#include "programs/slabmark/overview.hpp"
#include "programs/slabmark/verbs.hpp"

namespace slabmark::command {

namespace {

using Words = std::vector<std::string>;

/// The folder that holds this program, whatever links lead to it.
std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// The executable of a verb, or the script of the lab.
std::filesystem::path place_of(const std::string& verb) {
  return (own_folder() / SLABMARK_VERB_FOLDER / verb).lexically_normal();
}

/// Becomes another program; returns only if that cannot be started.
void become(const std::string& program, const Words& words) {
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
}

[[noreturn]] void become_or_fail(const std::filesystem::path& program, const Words& words) {
  become(program, words);
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  throw InputError("'" + program.string() + "' cannot be started (" + reason +
                   "); build it with 'make slabmark', or install Slabmark again.");
}

/// Sets what the lab and its Python need, and keeps what was there before: the lab puts that back
/// for the programs that it starts (lab/slabmark/surroundings.py).
void set_environment_of_lab() {
  std::string names;
  for (const std::string name :
       {"SLABMARK_BIN", "PYTHONPATH", "PYTHONIOENCODING", "LC_CTYPE", "PYTHONDONTWRITEBYTECODE"}) {
    names += name + " ";
    const char* before = std::getenv(name.c_str());
    if (before != nullptr) setenv(("SLABMARK_BEFORE_" + name).c_str(), before, 1);
  }
  setenv("SLABMARK_BEFORE", names.c_str(), 1);
  setenv("SLABMARK_BIN", own_folder().c_str(), 0);
  unsetenv("PYTHONIOENCODING");  // no Python starts with an unknown one
}

[[noreturn]] void run_lab(const Words& words) {
  std::error_code gone;
  if (std::filesystem::current_path(gone).empty()) {
    throw InputError("The folder in which this was started has been removed; change to another.");
  }
  set_environment_of_lab();
  const auto lab = place_of("lab");
  if (std::filesystem::exists(lab)) become_or_fail(lab, words);
  become("slabmark-lab", words);  // as pip installs it
  throw InputError("'" + words.front() + "' belongs to the lab, which is neither '" + lab.string() +
                   "' nor 'slabmark-lab' in the PATH; 'make slabmark' makes it or says what it "
                   "lacks, and 'pip install ./lab' installs it.");
}

[[noreturn]] void run_verb(const Words& words) {
  const std::string& verb = words.front();
  const bool draws = verb == "decomp" && words.size() > 1 && words[1] == "show";
  if (*runner_of(verb) == Runner::lab || draws) run_lab(words);
  become_or_fail(place_of(verb), {words.begin() + 1, words.end()});
}

[[noreturn]] void refuse(const std::string& what, std::string_view word, bool with_programs) {
  const std::string near = nearest(word, names(with_programs));
  const std::string remedy =
      near.empty() ? "'slabmark --help' lists all." : "did you mean '" + near + "'?";
  throw InputError("There is no " + what + " '" + std::string(word) + "'; " + remedy);
}

/// Opens the manual page of a verb or program; without one, or without `man`, prints its help.
[[noreturn]] void show_manual(Words topic) {
  const Runner* runner = runner_of(topic.front());
  if (runner == nullptr) refuse("manual page on", topic.front(), true);
  const bool is_program = *runner == Runner::itself;
  const std::string name = (is_program ? "" : "slabmark-") + topic.front() + ".1";
  for (const char* ending : {"", ".gz"}) {
    const auto page = own_folder() / SLABMARK_MANUAL_FOLDER / (name + ending);
    if (std::filesystem::exists(page)) become("man", {page.string()});
  }
  topic.push_back("--help");
  if (!is_program) run_verb(topic);
  become_or_fail(own_folder() / topic.front(), {topic.begin() + 1, topic.end()});
}

ExitStatus print(const std::string& text) {
  if (is_first_rank_of_launch()) std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? ExitStatus::good : ExitStatus::failed;
}

/// The words that a link with an earlier name stands for, after a hint how to write them now.
Words renamed(const std::string& name, Words words) {
  const Words verb = earlier_name(name);
  if (verb.empty()) return words;
  std::string now = "slabmark";
  for (const std::string& word : verb) now += " " + word;
  if (is_first_rank_of_launch()) {
    std::fprintf(stderr, "slabmark: '%s' is now '%s'; the old name goes with the next release.\n",
                 name.c_str(), now.c_str());
  }
  words.insert(words.begin(), verb.begin(), verb.end());
  return words;
}

/// Opens closed standard streams onto nothing. Else the next file that is opened, here or in a
/// verb, would take their place, and get what is printed.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return;
  }
}

ExitStatus run(const std::string& name, const Words& given) {
  open_closed_streams();

  const Words words = renamed(name, given);
  if (words.empty()) throw InputError("A verb is missing; 'slabmark --help' lists them.");
  const std::string& word = words.front();
  if (word == "--help" || word == "-h") return print(help_text());
  if (word == "--version") return print(version_text());
  if (word == "--describe-options") return print(description());
  if (word == "help") {
    if (words.size() == 1) return print(help_text());
    if (words[1] == "--help" || words[1] == "-h") return print(help_of_help());
    show_manual({words.begin() + 1, words.end()});
  }
  const Runner* runner = runner_of(word);
  if (runner == nullptr) refuse(word.starts_with('-') ? "option" : "verb", word, false);
  if (*runner == Runner::itself) {
    throw InputError("'" + word + "' is a program of its own; start it without 'slabmark'.");
  }
  run_verb(words);
}

}  // namespace

}  // namespace slabmark::command

int main(int argc, char** argv) {
  const std::filesystem::path started = argc > 0 ? argv[0] : "slabmark";
  try {
    const auto status =
        slabmark::command::run(started.filename(), {argv + (argc > 0 ? 1 : 0), argv + argc});
    return static_cast<int>(status);
  } catch (const slabmark::Error& error) {
    if (slabmark::is_first_rank_of_launch()) {
      std::fprintf(stderr, "slabmark: error: %s\n", slabmark::printable(error.what()).c_str());
    }
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slabmark: error: %s\n", error.what());
    return static_cast<int>(slabmark::ExitStatus::failed);
  }
}
