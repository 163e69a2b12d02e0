#include <numeric>

#include <fmt/format.h>

#include "bench/measure/record_file.hpp"
#include "core/base/printable.hpp"
#include "programs/decomp/commands.hpp"
#include "programs/decomp/statistics.hpp"

namespace slabmark::decomp {

ExitStatus info(const Comm& comm, const std::string& input, const InfoOptions& options) {
  const auto file = open_map(comm, input);
  std::vector<std::size_t> chosen(file->maps().size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  keep_only(chosen, options.map, fmt::format("\"{}\"", input));
  Json maps = Json::array();
  std::string text = fmt::format("{}: {}, {} map{}\n", printable(file->path()), file->layout(),
                                 file->maps().size(), file->maps().size() == 1 ? "" : "s");
  for (const std::size_t k : chosen) {
    const MapStatistics statistics = gather_statistics(comm, *file, k, options.ranks.value_or(0));
    const std::string name = fmt::format("D{}", k + 1);
    text += to_text(statistics, name);
    maps.push_back(to_json(statistics, name));
  }
  if (!comm.is_root()) return ExitStatus::good;
  if (!options.json.empty()) {
    const Json all = {{"file", file->path()}, {"layout", file->layout()}, {"maps", maps}};
    append_document(options.json, all);
  }
  if (options.json != standard_output) fmt::print("{}", text);
  return ExitStatus::good;
}

}  // namespace slabmark::decomp
