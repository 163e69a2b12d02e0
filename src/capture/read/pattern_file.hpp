#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "capture/read/box_lists.hpp"
#include "capture/read/events.hpp"
#include "core/json/json.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark {

class GrowingDataset;

/// The calls of a recorded rank, as coded; and its numbers of files and definitions in the header.
struct RankPart {
  std::vector<std::uint8_t> events, lists;
  std::vector<std::uint32_t> files, definitions;
};

/// The files of a program to look at, such as those of one of several coupled programs.
struct FileChoice {
  std::string library;          ///< through which they were opened; empty: any
  std::set<std::string> paths;  ///< as they were recorded; empty: all

  bool is_everything() const { return library.empty() && paths.empty(); }
  bool takes(const Json& file) const {
    return (library.empty() || file.value("level", "") == library) &&
           (paths.empty() || paths.contains(file.value("path", "")));
  }
};

/// True if HDF5 can open the file and it has the mark of pattern files, of whichever version.
bool is_pattern_file(const std::string& path);

/// A pattern file (docs/reference/pattern-file.md), open for reading by this process alone. Of a
/// choice of files it has the ranks that opened one, in order, and what they did with these.
class PatternFile {
 public:
  /// Throws InputError where it is none, or is damaged or of a newer version, and where no rank
  /// opened a file of the choice.
  explicit PatternFile(const std::string& path, FileChoice choice = {});

  const std::string& path() const { return path_; }
  const Json& header() const { return header_; }
  const Json& files() const { return header_["files"]; }
  const Json& definitions() const { return header_["definitions"]; }
  std::uint64_t ranks() const { return ranks_; }
  bool takes(const Json& file) const { return choice_.takes(file); }
  bool takes_all() const { return choice_.is_everything(); }
  const std::string& origin() const { return origin_; }
  const std::string& guess() const { return guess_; }  ///< empty: it is none

  /// The last block read is kept: a rank is played by going through it several times.
  std::shared_ptr<const RankPart> read(std::uint64_t rank) const;
  /// As messages call the events or lists of a rank.
  std::string place(const char* what, std::uint64_t rank) const;

 private:
  template <class Number>
  std::vector<Number> read(const char* name, std::uint64_t begin, std::uint64_t end) const;
  template <class Number>
  std::vector<Number> read_all(const char* name) const;
  std::string text_attribute(const char* name) const;
  void choose_ranks();
  void check_begins(const char* name, const std::vector<std::uint64_t>& begins) const;
  std::uint64_t length(const char* name) const;
  /// Stays open: a chunk holds the parts of many ranks, and HDF5 keeps it in memory until then.
  const hdf5::Handle& opened(const char* name) const;

  std::string path_;
  hdf5::Handle file_;
  Json header_;
  FileChoice choice_;
  std::uint64_t ranks_ = 0;
  std::vector<std::uint64_t> chosen_ranks_;  ///< their numbers in the file; empty: all
  std::string origin_, guess_;
  std::vector<std::uint64_t> events_begin_, lists_begin_, files_begin_, definitions_begin_;
  mutable std::map<std::string, hdf5::Handle> datasets_;  ///< closed before the file
  mutable std::shared_ptr<const RankPart> last_;
  mutable std::uint64_t last_rank_ = 0;
};

/// A recorded rank's part of a pattern file, read and ready to be gone through.
class RankReader {
 public:
  RankReader(const PatternFile& file, std::uint64_t rank)
      : part(file.read(rank)),
        lists(part->lists, file.place("lists", rank)),
        events(part->events, file.place("events", rank)),
        file_(file) {}

  const std::shared_ptr<const RankPart> part;
  const BoxLists lists;
  EventReader events;  ///< of all files

  /// The next one of a file of the choice; false where none is left.
  bool next(CapturedEvent& event);
  // The meaning of the rank's numbers. Throw InputError for numbers that are none.
  std::uint32_t file_number(std::uint64_t opening) const;
  std::uint32_t definition_number(std::uint64_t definition) const;
  const Json& definition(std::uint64_t number) const {
    return file_.definitions()[definition_number(number)];
  }
  const Json& file(std::uint64_t opening) const { return file_.files()[file_number(opening)]; }
  struct Call {
    std::string name, effect;
  };
  const Call& call(std::uint64_t definition) const;

 private:
  const PatternFile& file_;
  mutable std::map<std::uint64_t, Call> calls_;  ///< by number, since each event asks for one
};

/// Writes a pattern file piece by piece: the streams of one rank after another.
class PatternWriter {
 public:
  /// The file must not exist yet. Throws IoError.
  explicit PatternWriter(const std::string& path);
  ~PatternWriter();
  PatternWriter(const PatternWriter&) = delete;
  PatternWriter& operator=(const PatternWriter&) = delete;

  // Of the rank at hand; any number of times, in any order.
  void add_events(std::span<const std::uint8_t> bytes);
  void add_lists(std::span<const std::uint8_t> bytes);
  void end_rank(std::span<const std::uint32_t> files, std::span<const std::uint32_t> definitions);

  void finish(const Json& header, const std::string& origin);

 private:
  void write_begins(const char* name, const std::vector<std::uint64_t>& begins);

  std::string path_;
  hdf5::Handle file_;
  std::unique_ptr<GrowingDataset> events_, lists_, files_, definitions_;
  std::vector<std::uint64_t> events_begin_{0}, lists_begin_{0}, files_begin_{0},
      definitions_begin_{0};
};

}  // namespace slabmark
