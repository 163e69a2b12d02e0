#include <sys/stat.h>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// How a program is told to read a file.
struct Reader {
  std::string name;
  const Program& program;
  Words before, after;
};

std::vector<Reader> readers() {
  const Words out = {"-o", "out.nc"};
  Words e3sm = out;
  if (!SLABMARK_WITH_PNETCDF) e3sm.insert(e3sm.end(), {"--methods", "hdf5-slab"});
  return {
      {"dat2nc", programs::dat2nc(), {}, out},
      {"dat2nc -i", programs::dat2nc(), {"-i"}, out},
      {"decomp info", programs::decomp(), {"info"}, {}},
      {"decomp check", programs::decomp(), {"check"}, {}},
      {"decomp convert", programs::decomp(), {"convert"}, out},
      {"e3sm_io", programs::e3sm_io(), {}, e3sm},
      {"dwrite_eval", programs::dwrite_eval(), {"-c"}, {"-o", "out"}},
      {"bench decomp", programs::bench(), {"decomp", "--map"}, {"--method", "posix"}},
      {"blob convert", programs::blob(), {"convert"}, out},
  };
}

class HostileInput : public ProgramTest {
 protected:
  /// Expects every program except `but` to refuse the file with one sentence.
  void expect_refused_by_all(const std::string& path, const std::string& but = "") const {
    for (const Reader& reader : readers()) {
      if (reader.name == but) continue;
      SCOPED_TRACE(reader.name);
      Words words = reader.before;
      words.push_back(path);
      words.insert(words.end(), reader.after.begin(), reader.after.end());
      expect_refused(reader.program, words, "");
    }
  }
};

TEST_F(HostileInput, NamesOfNoFile) {
  for (const std::string& name :
       {std::string("missing"), std::string(300, 'n'), std::string("line\nbreak\x1b[31m"),
        std::string("\xff\xfe"), std::string("/dev/zero")}) {
    SCOPED_TRACE(name);
    expect_refused_by_all(name);
  }
}

TEST_F(HostileInput, WhatIsNoRegularFile) {
  prepare([](const Comm&) {
    std::filesystem::create_directory("directory");
    ASSERT_EQ(mkfifo("pipe", 0600), 0);
    std::filesystem::create_symlink("circle", "circle");
  });
  for (const char* name : {"directory", "pipe", "circle"}) {
    SCOPED_TRACE(name);
    expect_refused_by_all(name);
  }
}

TEST_F(HostileInput, AnEmptyFile) {
  write("empty", "");
  expect_refused_by_all("empty", "dat2nc -i");
}

}  // namespace
}  // namespace slabmark
