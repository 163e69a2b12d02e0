#include <memory>

#include "bench/map/file_kind.hpp"
#include "programs/decomp/output.hpp"

namespace slabmark::decomp {

namespace {

/// All maps of the inputs, in order.
std::vector<MapSource> load(const std::vector<std::string>& inputs, const Comm& alone) {
  std::vector<MapSource> sources;
  for (const std::string& input : inputs) {
    if (kind_of_file(input) == FileKind::pio_text) {
      sources.push_back(source_of(index_pio_text(input)));
      continue;
    }
    const std::shared_ptr<MapFile> file = open_map(alone, input);
    for (std::size_t k = 0; k < file->maps().size(); ++k) sources.push_back(source_of(file, k));
  }
  return sources;
}

std::vector<std::uint64_t> entries_of(const RunList& runs) {
  std::vector<std::uint64_t> entries;
  entries.reserve(total_length(runs));
  for (const Run& run : runs) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) entries.push_back(i + 1);
  }
  return entries;
}

/// Holes are gone, and unless the source is text, so is the model's order.
TextMap text_of(const MapSource& source) {
  return {source.dims, source.ranks, [&source](PioTextWriter& to) {
            survey(source);
            for (std::uint64_t rank = 0; rank < source.ranks; ++rank) {
              const std::vector<std::uint64_t> entries = entries_of(source.row(rank));
              to.begin_rank(rank, entries.size());
              to.append(entries);
            }
            to.finish();
          }};
}

}  // namespace

void convert(const std::vector<std::string>& inputs, const OutputOptions& output) {
  const Comm alone(MPI_COMM_SELF);
  std::vector<MapSource> sources = load(inputs, alone);
  keep_only(sources, output.map, "the input");
  check_output(output, sources.size(), inputs);
  const OutputKind kind = kind_of(output, sources.size());
  constexpr std::uint64_t passes_of_text = 2;
  RowProgress progress;
  progress.follow(sources, kind == OutputKind::text ? passes_of_text : passes_of(kind));
  if (kind != OutputKind::text) {
    write_netcdf(sources, output);
    return;
  }
  std::vector<TextMap> texts;
  for (const MapSource& source : sources) texts.push_back(text_of(source));
  write_texts(file_names(output, sources.size()), texts);
}

}  // namespace slabmark::decomp
