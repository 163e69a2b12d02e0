#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/program.hpp"
#include "programs/programs.hpp"
#include "scratch.hpp"

namespace slabmark {

using Words = std::vector<std::string>;

/// The outcome of the run of a program on this rank.
struct Outcome {
  ExitStatus status = ExitStatus::good;
  std::string message;  ///< of the error, as users see it behind the name of the program
  std::string output;   ///< on standard output
};

/// Collective. Runs a program in this process on the ranks of `comm`, as its main() does. That
/// rank 0 alone prints the message, and that the status becomes the process's, is left to
/// tests/system, which launches each program.
inline Outcome run_here(const Comm& comm, const Program& program, const Words& words) {
  std::vector<const char*> argv = {program.name};
  for (const std::string& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(argv.size()) - 1;
  Outcome outcome;
  testing::internal::CaptureStdout();
  try {
    ProgramRun asked;
    agreed(comm, [&] { asked = program.parse(argc, argv.data()); });
    agreed(comm, [&] {
      if (asked.body) outcome.status = asked.body(comm);
      if (comm.is_root()) fmt::print("{}", asked.text);
    });
  } catch (const Error& error) {
    outcome.status = error.status();
    outcome.message = printable(error.what());
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  outcome.output = testing::internal::GetCapturedStdout();
  return outcome;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A command line that is refused, and what the message must hold.
struct Refused {
  std::string name;
  Words words;
  std::string culprit;
};

/// A variable of the environment, until this goes out of scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    value == nullptr ? unsetenv(name_) : setenv(name_, value, 1);
  }

  const char* name_;
  std::optional<std::string> before_;
};

/// A test in an empty folder that the ranks share, which is the current one.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { std::filesystem::current_path(scratch_.path()); }
  ~ProgramTest() override { std::filesystem::current_path(before_); }

  const Comm& world() const { return world_; }
  /// The folder.
  const std::string& here() const { return scratch_.path(); }

  Outcome run(const Program& program, const Words& words) const {
    return run_here(world_, program, words);
  }

  /// Rank 0 prepares what all ranks use: by programs in `step` too, which get the rank as a
  /// communicator.
  template <class Step>
  void prepare(const Step& step) const {
    const Comm alone(MPI_COMM_SELF);
    world_.barrier();  // others may still look at what was there before
    agreed(world_, [&] {
      if (world_.is_root()) step(alone);
    });
  }

  void write(const std::string& name, const std::string& content) const {
    prepare([&](const Comm&) { std::ofstream(name, std::ios::binary) << content; });
  }

  /// Writes a PIO text file: the extent with the fastest dimension first, and entries per rank.
  void write_map(const std::string& name, const std::vector<std::uint64_t>& extent,
                 const std::vector<std::vector<std::int64_t>>& rows) const {
    std::string text = fmt::format("version 2001 npes {} ndims {} \n{} \n", rows.size(),
                                   extent.size(), fmt::join(extent, " "));
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      text += fmt::format("{} {}\n", rank, rows[rank].size());
      for (const std::int64_t entry : rows[rank]) text += fmt::format("{} ", entry);
      text += "\n";
    }
    write(name, text + "\nObtained 10 stack frames.\n/model.exe() [0x13ff8e7]\n");
  }

  /// The map f.nc of an F case (f.dat without PnetCDF) of 218 columns and 16 ranks.
  std::string make_map() const {
    std::string path = SLABMARK_WITH_PNETCDF ? here() + "/f.nc" : here() + "/f.dat";
    Words words = {"generate", "f", "--ne=2", "--ranks=16", "--levels=8", "-o", path};
    if (!SLABMARK_WITH_PNETCDF) words.push_back("--map-index=3");
    prepare([&](const Comm& alone) {
      const Outcome made = run_here(alone, programs::decomp(), words);
      ASSERT_EQ(made.status, ExitStatus::good) << made.message;
    });
    return path;
  }

  /// Expects one sentence with `culprit`, exit status 2 and no change in the folder. Returns what
  /// was printed.
  std::string expect_refused(const Program& program, const Words& words,
                             const std::string& culprit) const {
    const std::vector<std::string> before = names();
    const Outcome outcome = run(program, words);
    EXPECT_EQ(outcome.status, ExitStatus::bad_input) << outcome.message << outcome.output;
    expect_sentence(outcome.message, culprit);
    EXPECT_EQ(names(), before);
    return outcome.output;
  }

  /// The same of many command lines, of which none may print anything.
  void expect_all_refused(const Program& program, const std::vector<Refused>& cases) const {
    for (const Refused& one : cases) {
      SCOPED_TRACE(one.name);
      EXPECT_EQ(expect_refused(program, one.words, one.culprit), "");
    }
  }

  static void expect_sentence(const std::string& message, const std::string& culprit) {
    using namespace testing;
    EXPECT_THAT(message, HasSubstr(culprit));
    EXPECT_THAT(message, AnyOf(EndsWith("."), EndsWith("?")));  // "did you mean ...?"
  }

  /// Collective. Names of what is in the folder, on rank 0: others would see what the first ranks
  /// make next.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    if (world_.is_root()) {
      for (const auto& entry : std::filesystem::directory_iterator(here())) {
        found.push_back(entry.path().filename());
      }
      std::sort(found.begin(), found.end());
    }
    world_.barrier();
    return found;
  }

 private:
  Comm world_{MPI_COMM_WORLD};
  std::filesystem::path before_ = std::filesystem::current_path();
  Scratch scratch_{world_};
};

}  // namespace slabmark
