#include "programs/run_here.hpp"

#if SLABMARK_WITH_PNETCDF
#include <pnetcdf.h>
#endif

namespace slabmark {
namespace {

class SlabmarkDecomp : public ProgramTest {
 protected:
  /// Maps of an F case: text files and, with PnetCDF, a file of three and one in the single layout.
  void make_maps() const {
    prepare([&](const Comm& alone) {
      std::vector<Words> outputs = {{"f"}};
      if (SLABMARK_WITH_PNETCDF) {
        outputs.push_back({"f.nc"});
        outputs.push_back({"single.nc", "--map-index", "3"});
      }
      for (const Words& output : outputs) {
        Words words = {"generate", "f", "--ne", "4", "--ranks", "16", "-o"};
        words.insert(words.end(), output.begin(), output.end());
        const Outcome made = run_here(alone, programs::decomp(), words);
        ASSERT_EQ(made.status, ExitStatus::good) << made.message;
      }
    });
  }
};

TEST_F(SlabmarkDecomp, WrongUsageIsOneSentenceBeforeAnyFile) {
  make_maps();
  const std::string map = SLABMARK_WITH_PNETCDF ? "f.nc" : "f_D3.dat";
  const std::string other = SLABMARK_WITH_PNETCDF ? "single.nc" : "f_D1.dat";
  const auto generate = [](const Words& more) {
    Words words = {"generate", "f", "-o", "x"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::vector<Refused> cases = {
      {"no command", {}, "info, check, convert or generate"},
      {"unknown command", {"destroy", map}, "destroy"},
      {"unknown option", {"info", map, "--frobnicate"}, "frobnicate"},
      {"no file", {"info"}, "MAP"},
      {"an empty name", {"info", ""}, "MAP"},
      {"missing file", {"info", "none.nc"}, "none.nc"},
      {"an empty number", {"info", map, "--map-index", ""}, "--map-index"},
      {"--map-index 0", {"info", map, "--map-index", "0"}, "--map-index"},
      {"--map-index 4", {"info", map, "--map-index", "4"}, "number 4"},
      {"--ranks x", {"info", map, "--ranks", "x"}, "--ranks"},
      {"--ranks beyond MPI", {"info", map, "--ranks", "3000000000"}, "3000000000"},
      {"convert without output", {"convert", map}, "-o"},
      {"convert to a missing folder",
       {"convert", map, "--map-index", "1", "-o", "none/x.dat"},
       "none"},
      {"convert over a file", {"convert", map, "-o", other}, "--overwrite"},
      {"unknown format", {"convert", map, "-o", "x", "--map-format", "xml"}, "xml"},
      {"generate nothing", {"generate"}, "f, i or g"},
      {"generate something else", {"generate", "x", "-o", "y"}, "x"},
      {"--ne 7", generate({"--ne", "7", "--ranks", "4"}), "7"},
      {"--ne 0", generate({"--ne", "0", "--ranks", "4"}), "--ne"},
      {"--ne x", generate({"--ne", "x", "--ranks", "4"}), "--ne"},
      {"no --ranks", generate({"--ne", "4"}), "--ranks"},
      {"more ranks than elements", generate({"--ne", "2", "--ranks", "25"}), "25"},
      {"unknown tie break", generate({"--ne", "4", "--ranks", "4", "--tie-break", "coin"}), "coin"},
      {"generate to a missing folder",
       {"generate", "f", "--ne", "4", "--ranks", "4", "-o", "none/x"},
       "none"},
  };
  if (SLABMARK_WITH_PNETCDF) {
    cases.push_back({"convert many to single",
                     {"convert", map, "--map-layout", "single", "-o", "x.nc"},
                     "--map-index"});
  }
  expect_all_refused(programs::decomp(), cases);
}

TEST_F(SlabmarkDecomp, AHugeCulpritIsCutAndTheRemedyStays) {
  const Outcome found =
      run(programs::decomp(), {"info", "a.dat", "--ranks", std::string(100'000, '9')});
  EXPECT_EQ(found.status, ExitStatus::bad_input);
  EXPECT_LT(found.message.size(), 2200u);
  EXPECT_THAT(found.message, testing::StartsWith("-n,--ranks is"));
  EXPECT_THAT(found.message, testing::HasSubstr("give a whole number"));
}

#if SLABMARK_WITH_PNETCDF

std::string random_bytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<char>((i * 197 + i * i * 31) % 251));
  }
  return bytes;
}

TEST_F(SlabmarkDecomp, AnUnreadableMapIsOneSentence) {
  make_maps();
  for (const char* file : {"f.nc", "single.nc"}) {
    const std::string sound = content_of(file);
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "is empty"},
        {random_bytes(5000), "no decomposition file"},
        {sound.substr(0, 4) + random_bytes(5000), "NetCDF"},
        {sound.substr(0, 300), "truncated"},
        {sound.substr(0, sound.size() * 2 / 3), "truncated"}};
    for (const auto& [content, culprit] : cases) {
      write("bad.nc", content);
      for (const char* command : {"info", "check"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", command, file, culprit));
        EXPECT_EQ(expect_refused(programs::decomp(), {command, "bad.nc"}, culprit), "");
        EXPECT_THAT(run(programs::decomp(), {command, "bad.nc"}).message,
                    testing::HasSubstr("bad.nc"));
      }
    }
  }
}

/// Sets one number of the offsets of rank 0.
void set_offset(const char* path, const char* variable, int value) {
  int id = 0, number = 0, dimensions = 0;
  ASSERT_EQ(ncmpi_open(MPI_COMM_SELF, path, NC_WRITE, MPI_INFO_NULL, &id), NC_NOERR);
  ASSERT_EQ(ncmpi_inq_varid(id, variable, &number), NC_NOERR);
  ASSERT_EQ(ncmpi_inq_varndims(id, number, &dimensions), NC_NOERR);
  const MPI_Offset row[] = {0, 3}, flat[] = {3};
  ASSERT_EQ(ncmpi_begin_indep_data(id), NC_NOERR);
  ASSERT_EQ(ncmpi_put_var1_int(id, number, dimensions == 2 ? row : flat, &value), NC_NOERR);
  ASSERT_EQ(ncmpi_close(id), NC_NOERR);
}

TEST_F(SlabmarkDecomp, AnOffsetOutsideTheArrayIsNamed) {
  make_maps();
  for (const auto& [file, variable] : {std::pair{"f.nc", "D3.offsets"}, {"single.nc", "offsets"}}) {
    for (const int value : {1'000'000, -5}) {
      SCOPED_TRACE(fmt::format("{} {}", file, value));
      prepare([&, file = file, variable = variable](const Comm&) {
        std::filesystem::copy_file(file, "bad.nc",
                                   std::filesystem::copy_options::overwrite_existing);
        set_offset("bad.nc", variable, value);
      });
      expect_refused(programs::decomp(), {"info", "bad.nc"}, fmt::to_string(value));
      EXPECT_THAT(run(programs::decomp(), {"info", "bad.nc"}).message,
                  testing::HasSubstr("rank 0"));
      EXPECT_EQ(run(programs::decomp(), {"check", "bad.nc"}).status, ExitStatus::failed);
    }
  }
}

#endif  // SLABMARK_WITH_PNETCDF

}  // namespace
}  // namespace slabmark
