#include <sys/stat.h>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// A program that writes one file, of the map a.dat if it reads any, and has the option
/// --overwrite.
struct Writer {
  std::string name;
  const Program& program;
  Words words;
  std::string output;
};

std::vector<Writer> writers() {
  const auto decomp = [](const Words& more, const std::string& format) {
    Words words = more;
    words.insert(words.end(), {"--map-format", format, "-o", "out." + format});
    return words;
  };
  const Words generate = {"generate", "f",        "--ne", "1",           "--ranks",
                          "2",        "--levels", "2",    "--map-index", "1"};
  std::vector<Writer> all = {
      {"convert to text", programs::decomp(), decomp({"convert", "a.dat"}, "dat"), "out.dat"},
      {"generate text", programs::decomp(), decomp(generate, "dat"), "out.dat"},
      {"h5perf",
       programs::h5perf(),
       {"-A", "posix", "-e", "1K", "-B", "512", "-x", "1K", "-X", "1K", "-o", "out"},
       "out"}};
  if (SLABMARK_WITH_PNETCDF) {
    all.push_back({"dat2nc", programs::dat2nc(), {"-q", "a.dat", "-o", "out.nc"}, "out.nc"});
    all.push_back(
        {"convert to NetCDF", programs::decomp(), decomp({"convert", "a.dat"}, "nc"), "out.nc"});
    all.push_back({"generate NetCDF", programs::decomp(), decomp(generate, "nc"), "out.nc"});
  }
  return all;
}

class HostileOutput : public ProgramTest {
 protected:
  void write_small_map(const std::string& name) const {
    write_map(name, {6, 2}, {{3, 2, 1, 0, 7}, {}, {8, 9, 10, 11, 4, 5, 6}});
  }

  void run_alone(const Program& program, const Words& words) const {
    prepare([&](const Comm& alone) {
      const Outcome done = run_here(alone, program, words);
      ASSERT_EQ(done.status, ExitStatus::good) << done.message;
    });
  }

  void expect_refused_and_kept(const Program& program, const Words& words,
                               const std::string& victim) const {
    const std::string before = content_of(victim);
    expect_refused(program, words, "");
    EXPECT_TRUE(content_of(victim) == before);
    world().barrier();  // the next program may begin to write
  }
};

TEST_F(HostileOutput, WhatExistsIsReplacedOnlyWithOverwrite) {
  write_small_map("a.dat");
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.name);
    write(writer.output, "thesis");
    expect_refused(writer.program, writer.words, "--overwrite");
    EXPECT_EQ(content_of(writer.output), "thesis");
    world().barrier();
    Words words = writer.words;
    words.push_back("--overwrite");
    const Outcome done = run(writer.program, words);
    EXPECT_EQ(done.status, ExitStatus::good) << done.message;
    EXPECT_THAT(content_of(writer.output), testing::Not(testing::StartsWith("thesis")));
    prepare([&](const Comm&) { std::filesystem::remove(writer.output); });
  }
}

TEST_F(HostileOutput, WhatIsNoFileAndLinksThatLeadNowhereAreNeverReplaced) {
  write_small_map("a.dat");
  for (const Writer& writer : writers()) {
    for (const std::string kind : {"directory", "pipe", "circular link", "dangling link"}) {
      SCOPED_TRACE(writer.name + ", " + kind);
      const std::string& out = writer.output;
      prepare([&](const Comm&) {
        if (kind == "directory") {
          std::filesystem::create_directory(out);
        } else if (kind == "pipe") {
          ASSERT_EQ(mkfifo(out.c_str(), 0600), 0);
        } else {
          std::filesystem::create_symlink(kind == "circular link" ? out : "nothing", out);
        }
      });
      struct stat before = {}, after = {};
      EXPECT_EQ(lstat(out.c_str(), &before), 0);
      Words words = writer.words;
      words.push_back("--overwrite");
      expect_refused(writer.program, words, out);
      EXPECT_EQ(lstat(out.c_str(), &after), 0);
      EXPECT_EQ(after.st_ino, before.st_ino);
      prepare([&](const Comm&) { std::filesystem::remove(out); });
    }
  }
}

TEST_F(HostileOutput, ATextMapThatIsAlsoAnOutputStays) {
  write_small_map("a.dat");
  prepare([](const Comm&) { std::filesystem::create_symlink("a.dat", "link.dat"); });
  for (const char* name : {"a.dat", "link.dat"}) {
    expect_refused_and_kept(programs::decomp(), {"convert", "a.dat", "-o", name, "--overwrite"},
                            "a.dat");
  }
  expect_refused_and_kept(programs::bench(),
                          {"decomp", "--map", "a.dat", "--method", "posix", "--json", "a.dat"},
                          "a.dat");
}

TEST_F(HostileOutput, AListOfInputsThatIsAlsoTheOutputStays) {
  write_small_map("a.dat");
  write("list.txt", "a.dat\n");
  const Words words = {"-i", "list.txt", "-o", "list.txt"};
  expect_refused_and_kept(programs::dat2nc(), words, "list.txt");
  expect_refused_and_kept(programs::dat2nc(), {"-i", "list.txt", "-o", "list.txt", "--overwrite"},
                          "list.txt");
}

#if SLABMARK_WITH_PNETCDF

TEST_F(HostileOutput, ANetcdfMapThatIsAlsoAnOutputStays) {
  write_small_map("a.dat");
  run_alone(programs::dat2nc(), {"-q", "a.dat"});
  prepare([](const Comm&) {
    std::filesystem::copy("a.nc", "a_vard.nc");
    std::filesystem::create_symlink("a.nc", "link.nc");
  });
  for (const char* name : {"a.nc", "link.nc"}) {
    expect_refused_and_kept(programs::decomp(), {"convert", "a.nc", "-o", name, "--overwrite"},
                            "a.nc");
  }
  expect_refused_and_kept(programs::e3sm_io(),
                          {"a_vard.nc", "--methods", "vard", "-o", "a.nc", "--overwrite"},
                          "a_vard.nc");
  expect_refused_and_kept(programs::e3sm_io(), {"a.nc", "-o", "x.nc", "--json", "a.nc"}, "a.nc");
}

TEST_F(HostileOutput, APrivateLayoutThatIsAlsoTheOutputStays) {
  write_small_map("a.dat");
  run_alone(programs::bench(), {"decomp", "--map", "a.dat", "--method", "blob", "--keep",
                                "--trials", "1", "--no-bound", "-q"});
  prepare([](const Comm&) {
    std::filesystem::rename("slabmark-blob.blob", "b.blob");
    std::filesystem::create_hard_link("b.blob", "hard");
  });
  for (const char* name : {"b.blob", "hard"}) {
    expect_refused_and_kept(programs::blob(), {"convert", "b.blob", "-o", name, "--overwrite"},
                            "b.blob");
  }
}

#endif  // SLABMARK_WITH_PNETCDF

}  // namespace
}  // namespace slabmark
