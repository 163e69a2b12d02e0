#include <fmt/format.h>

#include "base/printable.hpp"
#include "parallel/agree.hpp"
#include "program/slabmark-decomp/commands.hpp"
#include "program/slabmark-decomp/statistics.hpp"

namespace slabmark::decomp {

namespace {

std::vector<std::size_t> chosen_maps(const MapFile& file, std::uint64_t only) {
  const std::size_t count = file.maps().size();
  if (only > count) {
    throw InputError(
        fmt::format("\"{}\" has {} maps, and --map asks for number {}.", file.path(), count, only));
  }
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < count; ++k) {
    if (only == 0 || k + 1 == only) chosen.push_back(k);
  }
  return chosen;
}

}  // namespace

ExitStatus info(const Comm& comm, const InfoOptions& options) {
  const auto file = open_map(comm, options.input);
  nlohmann::ordered_json maps = nlohmann::ordered_json::array();
  std::string text = fmt::format("{}: {}, {} map{}\n", printable(file->path()), file->layout(),
                                 file->maps().size(), file->maps().size() == 1 ? "" : "s");
  for (const std::size_t k : chosen_maps(*file, options.map)) {
    const MapStatistics statistics = gather_statistics(comm, *file, k, options.ranks);
    const std::string name = fmt::format("D{}", k + 1);
    text += to_text(statistics, name);
    maps.push_back(to_json(statistics, name));
  }
  if (!comm.is_root()) return ExitStatus::good;
  if (options.is_json) {
    const nlohmann::ordered_json all = {
        {"file", file->path()}, {"layout", file->layout()}, {"maps", maps}};
    text = all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  fmt::print("{}", text);
  return ExitStatus::good;
}

}  // namespace slabmark::decomp
