#include <iostream>
#include <sstream>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// The parts of an input; a test changes one of them.
struct Input {
  std::string processor, chunk = "chunk 9 8 8", domain = "domain 18 8 8", time = "time 5";
  Words more = {};
  std::string end = "DONE\n";

  std::string text() const {
    std::string all = fmt::format("{}\n{}\n{}\n{}\n", processor, chunk, domain, time);
    for (const std::string& line : more) all += line + "\n";
    return all + end;
  }
};

class SeismCoreSlice : public ProgramTest {
 protected:
  Input input() const {
    return {.processor = world().size() == 4 ? "processor 1 2 2"
                                             : fmt::format("processor {} 1 1", world().size())};
  }

  template <class Change>
  std::string changed(const Change& change) const {
    Input one = input();
    change(one);
    return one.text();
  }

  std::string with(const Words& more) const {
    return changed([&](Input& one) { one.more = more; });
  }

  /// Expects that an input on standard input is refused.
  void refuses(const std::string& text, const std::string& culprit) const {
    SCOPED_TRACE(culprit);
    const std::vector<std::string> before = names();
    std::istringstream given(text);
    std::streambuf* const standard = std::cin.rdbuf(given.rdbuf());
    const Outcome found = run(programs::seism_core_slice(), {});
    std::cin.rdbuf(standard);
    std::cin.clear();
    EXPECT_NE(found.status, ExitStatus::good);
    expect_sentence(found.message, culprit);
    EXPECT_EQ(found.output, "");
    EXPECT_EQ(names(), before);
  }
};

TEST_F(SeismCoreSlice, WrongLinesAreOneSentence) {
  refuses("precraete\n" + input().text(), "did you mean precreate?");
  refuses(changed([](Input& one) { one.end = "done\n"; }), "did you mean DONE?");
  refuses("", "without DONE");
  refuses(changed([](Input& one) { one.end = ""; }), "without DONE");
  refuses(changed([](Input& one) { one.processor = "#"; }), "no line with processor");
  refuses(changed([](Input& one) { one.chunk = "#"; }), "no line with chunk");
  refuses(changed([](Input& one) { one.domain = "#"; }), "no line with domain");
  refuses(changed([](Input& one) { one.time = "#"; }), "no line with time");
  refuses(changed([](Input& one) { one.domain = "domain 18 8"; }),
          "domain takes 3 values on its line, but 2 follow");
  refuses(changed([](Input& one) { one.domain = "domain 18 8\n8"; }),
          "Line 3 of the input: domain takes 3 values");
  refuses(changed([](Input& one) { one.time = "time 5 6"; }),
          "time takes 1 value on its line, but 2 follow");
  refuses(with({"deflate 0 x"}), "deflate takes 1 value on its line, but 2 follow");
  refuses(with({"precreate 0"}), "precreate takes no value");
  refuses(with({"filename"}), "filename takes 1 value");
}

TEST_F(SeismCoreSlice, WrongNumbersAreOneSentence) {
  const auto domain = [&](const std::string& value) {
    return changed([&](Input& one) { one.domain = "domain " + value; });
  };
  const auto time = [&](const std::string& value) {
    return changed([&](Input& one) { one.time = "time " + value; });
  };
  const auto chunk = [&](const std::string& value) {
    return changed([&](Input& one) { one.chunk = "chunk " + value; });
  };
  refuses(domain("18 0 8"), "Line 3 of the input: domain is \"0\"");
  refuses(time("0"), "time is \"0\"");
  refuses(chunk("0 0 0"), "chunk is \"0\"");
  refuses(domain("18 -16 8"), "domain is \"-16\", which is out of range");
  refuses(time("-1"), "time is \"-1\", which is out of range");
  refuses(domain("18 1.5 8"), "domain is \"1.5\", which is not a whole number");
  refuses(time("five"), "time is \"five\"");
  refuses(domain("18 99999999999999999999 8"), "which is out of range");
  refuses(domain("4294967296 4294967296 4294967296"), "63 bits");
  refuses(chunk("19 8 8"), "The chunk is 19 x 8 x 8");
}

TEST_F(SeismCoreSlice, WhatDoesNotGoTogetherIsOneSentence) {
  const int ranks = world().size();
  refuses(changed([&](Input& one) {
            one.processor = ranks == 1 ? "processor 1 2 2" : "processor 1 1 1";
          }),
          fmt::format("makes {} processes, but there are {} ranks", ranks == 1 ? 4 : 1, ranks));
  refuses(with({"collective_write", "deflate 10"}), "deflate");
  refuses(with({"deflate 5"}), "collective");
  refuses(with({"collective_write", "zfp 1"}), "ZFP");
  refuses(with({"subfile 2", "precreate"}), "precreate");
  refuses(with({"filename nowhere/x.h5"}), "nowhere");
  refuses(with({"filename ."}), "not a regular file");
  refuses(with({"filename " + std::string(300, 'x')}), "long");
  refuses(with({"use_function_name gaussian"}), "no use_function_lib");
}

#ifdef SLABMARK_TEST_PLUGINS

Words function(const std::string& name, int count, const std::string& arguments,
               const std::string& library = SLABMARK_TEST_PLUGINS) {
  return {"use_function_lib " + library, "use_function_name " + name,
          fmt::format("use_function_argc {}", count), "use_function_argv " + arguments + " "};
}

TEST_F(SeismCoreSlice, WrongFunctionsAreOneSentence) {
  refuses(with(function("gaussian", 4, "1 1")),
          "use_function_argc is 4, but use_function_argv holds 2");
  refuses(with(function("gaussian", 2, "1 1")), "gaussian takes 4 arguments");
  refuses(with(function("gaussian", 4, "1 1 x 1")), "argument 2 of gaussian is \"x\"");
  refuses(with(function("gaussian", 4, "1 1 1 1", "libnone.so")), "libnone.so");
  refuses(with(function("gausian", 4, "1 1 1 1")), "no function");
  refuses(with(function("sd", 1, "none.bin")), "none.bin");
}

#endif  // SLABMARK_TEST_PLUGINS

}  // namespace
}  // namespace slabmark
