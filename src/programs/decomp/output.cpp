#include "programs/decomp/output.hpp"

#include <deque>

#include <fmt/format.h>

#include "bench/map/netcdf_writer.hpp"
#include "core/base/number.hpp"
#include "core/base/printable.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::decomp {

namespace {

bool is_text(const OutputOptions& output) {
  return output.format == "dat" || (output.format.empty() && !output.path.ends_with(".nc"));
}

}  // namespace

void RowProgress::follow(std::vector<MapSource>& sources, std::uint64_t passes) {
  for (MapSource& source : sources) {
    expected_ += passes * source.ranks;
    source.row = [this, row = std::move(source.row)](std::uint64_t rank) {
      RunList runs = row(rank);
      note_row();
      return runs;
    };
  }
}

void RowProgress::follow(std::vector<SyntheticMap>& maps, std::uint64_t passes) {
  for (SyntheticMap& map : maps) {
    expected_ += passes * map.ranks;
    map.visit = [this, visit = std::move(map.visit)](std::uint64_t rank,
                                                     const EntryVisitor& entry) {
      visit(rank, entry);
      note_row();
    };
  }
}

std::uint64_t passes_of(OutputKind kind) {
  return kind == OutputKind::single_netcdf ? passes_of_single_map : passes_of_many_maps;
}

OutputKind kind_of(const OutputOptions& output, std::size_t maps) {
  if (is_text(output)) return OutputKind::text;
  if (output.layout == "many" || (output.layout == "auto" && maps > 1))
    return OutputKind::many_netcdf;
  if (maps > 1) {
    throw InputError(fmt::format(
        "The single layout holds one map, and there are {}; choose one with --map-index, "
        "or --map-layout many.",
        maps));
  }
  return OutputKind::single_netcdf;
}

std::vector<std::string> file_names(const OutputOptions& output, std::size_t maps) {
  if (kind_of(output, maps) != OutputKind::text) return {output.path};
  const std::string stem =
      output.path.ends_with(".dat") ? output.path.substr(0, output.path.size() - 4) : output.path;
  if (maps == 1) return {stem + ".dat"};
  std::vector<std::string> names;
  for (std::size_t k = 1; k <= maps; ++k) names.push_back(fmt::format("{}_D{}.dat", stem, k));
  return names;
}

void check_output(const OutputOptions& output, std::size_t maps,
                  const std::vector<std::string>& inputs) {
  for (const std::string& name : file_names(output, maps)) {
    posix::require_output(name, {output.may_overwrite, "-o", inputs});
  }
}

void write_texts(const std::vector<std::string>& names, const std::vector<TextMap>& maps) {
  std::deque<PioTextWriter> writers;
  for (std::size_t k = 0; k < maps.size(); ++k) {
    maps[k].write(writers.emplace_back(names[k], maps[k].dims, maps[k].ranks));
  }
  for (std::size_t k = 0; k < maps.size(); ++k) {
    writers[k].commit();
    report_written(names[k], writers[k].bytes());
  }
}

void write_netcdf(const std::vector<MapSource>& sources, const OutputOptions& output) {
  const bool is_single = kind_of(output, sources.size()) == OutputKind::single_netcdf;
  const WrittenMap written = is_single ? write_single_map(output.path, sources.front())
                                       : write_many_maps(output.path, sources, output.command_line);
  report_written(output.path, written.bytes);
  if (written.cdf_version == 5) {
    fmt::print("  in CDF-5, since its sizes or offsets do not fit into CDF-1\n");
  }
}

void report_written(const std::string& path, std::uint64_t bytes) {
  fmt::print("{}: {}\n", printable(path), format_bytes(bytes));
}

}  // namespace slabmark::decomp
