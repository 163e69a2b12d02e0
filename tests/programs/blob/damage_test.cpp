#if SLABMARK_WITH_PNETCDF

#include <cstring>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

/// A file of the private layout. Its head is the mark, version, ranks, rounds, offset and bytes of
/// the description, and the offset of the table.
struct Blob {
  std::string bytes;

  std::uint64_t number(std::uint64_t at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }

  std::string with(std::uint64_t at, std::uint64_t value) const {
    std::string patched = bytes;
    std::memcpy(patched.data() + at, &value, sizeof value);
    return patched;
  }

  std::string with(const std::string& part, const std::string& other) const {
    std::string patched = bytes;
    return patched.replace(patched.find(part), part.size(), other);
  }

  /// Offset of the numbers of rank 0: the count of maps, and for each its runs; the count of
  /// entries, and five numbers each.
  std::uint64_t index() const { return number(number(48)); }

  std::uint64_t first_entry() const {
    std::uint64_t at = index() + 8;
    for (std::uint64_t map = 0; map < number(index()); ++map) at += 8 + 16 * number(at);
    return at + 8;
  }
};

class SlabmarkBlob : public ProgramTest {
 protected:
  Blob make_blob() const {
    write_map("a.dat", {6, 2}, {{3, 2, 1, 0, 7}, {}, {8, 9, 10, 11, 4, 5, 6}});
    prepare([&](const Comm& alone) {
      const auto done = [&](const Program& program, const Words& words) {
        const Outcome outcome = run_here(alone, program, words);
        ASSERT_EQ(outcome.status, ExitStatus::good) << outcome.message;
      };
      done(programs::dat2nc(), {"-q", "a.dat"});
      done(programs::bench(), {"decomp", "--map", "a.nc", "--method", "blob", "--keep", "--trials",
                               "1", "--no-bound", "--steps", "2", "-q"});
      std::filesystem::remove("a.dat");
      std::filesystem::remove("a.nc");
      std::filesystem::rename("slabmark-blob.blob", "in.blob");
    });
    Blob blob{content_of("in.blob")};
    world().barrier();
    return blob;
  }

  void refuses(const std::string& what, const std::string& damaged) const {
    SCOPED_TRACE(what);
    write("in.blob", damaged);
    expect_refused(programs::blob(), {"convert", "in.blob", "-o", "out.nc"}, "in.blob");
  }
};

TEST_F(SlabmarkBlob, ADamagedFileIsOneSentence) {
  const Blob sound = make_blob();
  const std::uint64_t entry = sound.first_entry();
  const std::vector<std::pair<std::string, std::uint64_t>> numbers = {
      {"ranks", 16},
      {"offset of the description", 32},
      {"bytes of the description", 40},
      {"offset of the table", 48},
      {"dataset of an entry", entry},
      {"map of an entry", entry + 16},
      {"offset of an entry", entry + 24},
      {"round of an entry", entry + 32}};
  for (const auto& [name, at] : numbers) {
    for (const int bits : {20, 32, 61, 64}) {
      const std::uint64_t value = bits == 64 ? ~std::uint64_t{0} : std::uint64_t{1} << bits;
      refuses(fmt::format("{} {:#x}", name, value), sound.with(at, value));
    }
  }
  for (const int bits : {20, 61}) {
    refuses(fmt::format("2^{} maps", bits), sound.with(sound.index(), std::uint64_t{1} << bits));
  }
  for (const std::uint64_t value :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    refuses(fmt::format("a run at {:#x}", value), sound.with(sound.index() + 16, value));
  }
  refuses("no ranks", sound.with(16, 0));
  refuses("no datasets", sound.with("\"datasets\":[", "\"datasets\":[],\"x\":["));
  refuses("no known type", sound.with("\"type\":4", "\"type\":99"));
  refuses("not JSON", sound.with("{\"attributes\"", "[\"attributes\""));
  refuses("cut", sound.bytes.substr(0, sound.bytes.size() / 2));
  refuses("head only", sound.bytes.substr(0, 56));
  refuses("another version", sound.with(8, 2));
}

TEST_F(SlabmarkBlob, RoundsThatHoldNothingTakeNoTime) {
  const Blob sound = make_blob();
  const auto converted = [&](const std::string& content) {
    write("in.blob", content);
    const Outcome done =
        run(programs::blob(), {"convert", "in.blob", "-o", "out.nc", "--overwrite"});
    EXPECT_EQ(done.status, ExitStatus::good) << done.message;
    std::string found = content_of("out.nc");
    world().barrier();
    return found;
  };
  const std::string due = converted(sound.bytes);
  EXPECT_EQ(converted(sound.with(24, std::uint64_t{1} << 62)), due);
}

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
