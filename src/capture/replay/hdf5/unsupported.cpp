#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "capture/format/event_flags.hpp"
#include "capture/read/captured_walk.hpp"
#include "capture/replay/hdf5/coded.hpp"
#include "capture/replay/replay.hpp"

namespace slabmark {

namespace {

/// The calls of a rank, on files that it writes, that cannot be made again.
class UnsupportedCalls {
 public:
  explicit UnsupportedCalls(const RecordedProgram& program) : program_(program) { hdf5::silence(); }

  std::optional<std::string> find() {
    CapturedWalk walk = program_.walk(*program_.recorded_rank);
    const std::set<std::uint64_t> files(program_.files.begin(), program_.files.end());
    for (std::uint64_t i = 0; i < walk.rank().part->definitions.size(); ++i)
      cuts_ = cuts_ || walk.rank().definition(i).value("name", "") == "H5Dset_extent";
    while (walk.next()) {
      if (walk.event().has(capture::failed) || !files.contains(walk.path())) continue;
      if (auto reason = unsupported_opening(walk)) return reason;
      if (walk.event().dataset == CapturedEvent::none) continue;
      if (auto reason = unsupported_call(walk)) return reason;
    }
    return std::nullopt;
  }

 private:
  /// Files that a rank opens by itself must be there by then.
  std::optional<std::string> unsupported_opening(const CapturedWalk& walk) {
    const std::string& call = walk.rank().call(walk.event().call).name;
    if (call != "H5Fcreate" && !call.starts_with("H5Fopen")) return std::nullopt;
    const bool is_alone = walk.rank().file(walk.event().file).value("ranks", std::uint64_t{1}) == 1;
    if (call == "H5Fcreate" || !is_alone || !program_.shared_paths.contains(walk.path())) {
      there_.insert(walk.path());
    }
    if (there_.contains(walk.path())) return std::nullopt;
    return fmt::format(
        "rank {} opened '{}' by itself, which another one had made, and nothing says when",
        *program_.recorded_rank, program_.paths.all()[walk.path()].name);
  }

  std::optional<std::string> unsupported_call(const CapturedWalk& walk) {
    const RankReader& rank = walk.rank();
    const std::uint64_t number = walk.event().dataset;
    const std::string& call = rank.call(walk.event().call).name;
    const Json& described = rank.definition(number);
    if (cuts_) {
      if (auto reason = unsupported_cut(walk, described)) return reason;
    }
    if (walk.event().moves()) {
      if (!moved_.insert(number).second ||
          !hdf5_coded::has_addresses(hdf5_coded::type_of(described).get()))
        return std::nullopt;
      return fmt::format("the elements of dataset '{}' are of variable length or references, {}",
                         described.value("name", ""), "and what they lead to is not recorded");
    }
    const std::string name = described.value("name", "");
    if (call == "H5Dcreate") {
      made_.emplace(walk.path(), name);
      const auto creation =
          hdf5_coded::list_of(hdf5_coded::code_of(described, "creation"), H5P_DATASET_CREATE);
      if (H5Pget_external_count(creation.get()) <= 0 &&
          H5Pget_layout(creation.get()) != H5D_VIRTUAL) {
        return std::nullopt;
      }
      // The program may have files of its own there, and the same calls would write to these.
      return fmt::format("the elements of dataset '{}' lie in files that the program names {}",
                         name, "(H5Pset_external, H5Pset_virtual)");
    }
    if (call != "H5Dopen" || is_made(walk.path(), name)) return std::nullopt;
    return fmt::format("the program opened dataset '{}', which it did not make under that name: {}",
                       name, "a pattern has no links, copies and renames");
  }

  /// Elements that were written and then cut off by H5Dset_extent cannot be read back.
  std::optional<std::string> unsupported_cut(const CapturedWalk& walk, const Json& described) {
    const CapturedEvent& event = walk.event();
    const std::string name = described.value("name", "");
    const auto [place, is_new] = written_.try_emplace({walk.path(), name});
    Written& written = place->second;
    if (is_new) {
      written.extent = described.at("extent").get<std::vector<std::int64_t>>();
      written.ends.resize(written.extent.size());
    }
    if (walk.rank().call(event.call).name == "H5Dset_extent") {
      written.extent = event.arguments;
      for (std::size_t d = 0; d < std::min(written.ends.size(), written.extent.size()); ++d) {
        if (written.ends[d] <= written.extent[d]) continue;
        return fmt::format("the program wrote elements of dataset '{}' and cut them off afterwards",
                           name);
      }
    }
    if (event.has(capture::writes)) note_ends(event, walk.rank().lists, written);
    return std::nullopt;
  }

  struct Written {
    std::vector<std::int64_t> extent, ends;  ///< as it is now; of what the rank has written
  };

  static void note_ends(const CapturedEvent& event, const BoxLists& lists, Written& written) {
    const auto note = [&](std::size_t d, std::int64_t end) {
      if (d < written.ends.size()) written.ends[d] = std::max(written.ends[d], end);
    };
    if (event.selection == CapturedEvent::Selection::all) {
      for (std::size_t d = 0; d < written.extent.size(); ++d) note(d, written.extent[d]);
    } else if (event.selection == CapturedEvent::Selection::box) {
      for (std::size_t d = 0; d < event.rank; ++d)
        note(d, event.origin[d] + static_cast<std::int64_t>(event.counts[d]));
    } else if (event.selection == CapturedEvent::Selection::list) {
      const BoxArray boxes = lists.get(event.list);
      for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
        const auto d = k % boxes.rank;
        const std::int64_t stride = boxes.stride(k);
        const std::int64_t block = boxes.block(k);
        note(d, event.origin[d] + boxes.starts[k] + (boxes.counts[k] - 1) * stride + block);
      }
    }
  }

  /// By this rank, or by another one in a file that ranks open each for itself.
  bool is_made(std::uint64_t path, const std::string& name) {
    if (made_.contains({path, name})) return true;
    const bool makes_all =
        !program_.shared_paths.contains(path) ||
        program_.paths.all()[path].ranks == std::set<std::uint64_t>{program_.file.ranks()};
    if (makes_all) return false;
    if (!std::exchange(knows_others_, true)) {
      for (std::uint64_t rank = 0; rank < program_.file.ranks(); ++rank) add_made_by(rank);
    }
    return made_by_any_.contains({path, name});
  }

  void add_made_by(std::uint64_t rank) {
    CapturedWalk walk = program_.walk(rank);
    while (walk.next()) {
      const CapturedEvent& event = walk.event();
      if (event.dataset == CapturedEvent::none || event.has(capture::failed)) continue;
      if (walk.rank().call(event.call).name != "H5Dcreate") continue;
      made_by_any_.emplace(walk.path(), walk.rank().definition(event.dataset).value("name", ""));
    }
  }

  const RecordedProgram& program_;
  std::set<std::uint64_t> there_;                         ///< paths that this rank found or made
  std::set<std::uint64_t> moved_;                         ///< datasets, by the rank's number
  std::set<std::pair<std::uint64_t, std::string>> made_;  ///< names of datasets, by path
  std::set<std::pair<std::uint64_t, std::string>> made_by_any_;  ///< the same, of all ranks
  bool knows_others_ = false;
  bool cuts_ = false;                                                 ///< it calls H5Dset_extent
  std::map<std::pair<std::uint64_t, std::string>, Written> written_;  ///< by path and dataset
};

}  // namespace

std::optional<std::string> hdf5_unsupported_reason(const RecordedProgram& program) {
  // Another method makes the elements that a program has read, without addresses.
  if (program.direction != capture::writes) return std::nullopt;
  return UnsupportedCalls(program).find();
}

}  // namespace slabmark
