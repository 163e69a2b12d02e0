#include "convert/zarr_target.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "convert/layout.hpp"
#include "convert/zarr_attributes.hpp"
#include "core/base/error.hpp"
#include "core/geometry/hyperslab.hpp"
#include "core/parallel/agree.hpp"
#include "storage/zarr/shard_writer.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark::convert {

namespace {

std::vector<zarr::Codec> codecs_of(const FileVariable& variable, const Settings& settings) {
  const VariableFilters filters = filters_of(variable, settings.of(variable));
  std::vector<zarr::Codec> codecs;
  if (filters.compression == Compression::zstd) {
    codecs.push_back({"zstd", static_cast<int>(filters.level)});
  } else if (filters.compression == Compression::deflate) {
    codecs.push_back({"gzip", static_cast<int>(filters.level)});
  }
  if (filters.fletcher32) codecs.push_back({"crc32c"});
  return codecs;
}

std::string owner_of(const FileVariable& variable) {
  return fmt::format("variable '{}'", variable.name);
}

zarr::ArrayMetadata array_of(const FileContents& contents, const FileVariable& variable,
                             const Extent& chunk, const Settings& settings) {
  zarr::ArrayMetadata array;
  array.shape = contents.extent_of(variable);
  array.type = variable.type;
  array.shard = array.chunk = chunk;
  array.codecs = codecs_of(variable, settings);
  array.fill = fill_of(variable);
  array.separator = '/';
  for (const std::size_t d : variable.dimensions) {
    array.dimensions.push_back(contents.dimensions[d].name);
  }
  return array;
}

class ZarrTarget : public Target {
 public:
  ZarrTarget(const Comm& comm, const std::string& path, const FileContents& contents,
             const std::vector<Extent>& chunks, const Settings& settings)
      : comm_(comm), path_(path), contents_(contents), chunks_(chunks) {
    std::vector<zarr::NamedJson> arrays;
    const auto buffers = std::make_shared<zarr::Buffers>();
    for (std::size_t v = 0; v < contents.variables.size(); ++v) {
      const FileVariable& variable = contents.variables[v];
      const zarr::ArrayMetadata array = array_of(contents, variable, chunks[v], settings);
      writers_.emplace_back(path + '/' + variable.name, array, buffers);
      names_.push_back({variable.name, {}});
      arrays.push_back({variable.name, zarr::metadata_of(array)});
      arrays.back().json["attributes"] = zarr_attributes(variable.attributes, owner_of(variable));
    }
    agreed(comm, [&] {
      if (!comm.is_root()) return;
      zarr::create_store(path);
      zarr::write_metadata(path, arrays, zarr_attributes(contents.attributes, "the file"));
    });
  }

  void write(const Batch& batch, std::span<const Run> shares, std::byte* memory) override {
    agreed(comm_, [&] {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (shares[i].length == 0) continue;
        for (Hyperslab& part : boxes_of_range(shares[i], batch[i].size)) {
          for (std::size_t d = 0; d < part.start.size(); ++d) part.start[d] += batch[i].start[d];
          write_box(batch[i].variable, part, memory);
          memory += element_count(part) * size_of(contents_.variables[batch[i].variable].type);
        }
      }
    });
  }

  // Durable, but no later run goes on with a store.
  TargetState save() override {
    agreed(comm_, [&] {
      for (zarr::ShardWriter& writer : writers_) writer.sync();
      if (comm_.is_root()) zarr::sync_metadata(path_, names_);
    });
    return {};
  }

  void close() override {
    agreed(comm_, [] {});
  }

 private:
  /// Its chunks one after another.
  void write_box(std::size_t v, const Hyperslab& box, const std::byte* memory) {
    const Extent& chunk = chunks_[v];
    Extent counts;
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      counts.push_back((box.block[d] + chunk[d] - 1) / chunk[d]);
    }
    for (std::uint64_t number = 0; number < element_count(counts); ++number) {
      Extent in_box = indices_of(number, counts), index, size;
      for (std::size_t d = 0; d < chunk.size(); ++d) {
        index.push_back(box.start[d] / chunk[d] + in_box[d]);
        in_box[d] *= chunk[d];
        size.push_back(std::min(chunk[d], box.block[d] - in_box[d]));
      }
      writers_[v].write(index, gathered(v, memory, box.block, make_box(in_box, size)));
    }
  }

  /// A whole chunk, whose elements beyond the array have the fill value.
  const std::byte* gathered(std::size_t v, const std::byte* memory, const Extent& of_memory,
                            const Hyperslab& from) {
    const Extent& chunk = chunks_[v];
    const std::uint64_t bytes = size_of(contents_.variables[v].type);
    chunk_.resize(element_count(chunk) * bytes);
    if (from.block != chunk) {
      const std::vector<std::byte> fill = fill_of(contents_.variables[v]);
      for (std::uint64_t at = 0; at < chunk_.size(); at += bytes) {
        std::memcpy(chunk_.data() + at, fill.data(), bytes);
      }
    }
    // The runs of both are rows, since rows of the box are no longer than those of either.
    std::vector<Run> to;
    const Hyperslab there = make_box(Extent(chunk.size(), 0), from.block);
    for_each_row(there, chunk, [&](Run run) { to.push_back(run); });
    std::size_t row = 0;
    for_each_row(from, of_memory, [&](Run run) {
      std::memcpy(chunk_.data() + to[row++].offset * bytes, memory + run.offset * bytes,
                  run.length * bytes);
    });
    return chunk_.data();
  }

  template <class Visit>
  static void for_each_row(const Hyperslab& box, const Extent& extent, const Visit& visit) {
    const std::uint64_t row = box.block.empty() ? 1 : box.block.back();
    for_each_run(box, extent, [&](Run run) {
      for (std::uint64_t at = 0; at < run.length; at += row) visit(Run{run.offset + at, row});
    });
  }

  const Comm& comm_;
  std::string path_;
  std::vector<zarr::NamedArray> names_;
  const FileContents& contents_;
  const std::vector<Extent>& chunks_;
  std::vector<zarr::ShardWriter> writers_;
  std::vector<std::byte> chunk_;
};

}  // namespace

void require_zarr(const FileContents& contents, const Settings& settings,
                  const std::string& input) {
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("Cannot write '{}' as Zarr: {}.", input, reason));
  };
  static_cast<void>(zarr_attributes(contents.attributes, fmt::format("'{}'", input)));
  for (const FileVariable& variable : contents.variables) {
    const std::string owner = owner_of(variable);
    if (const std::string reason = zarr::unfit_name(variable.name); !reason.empty()) {
      refuse(
          fmt::format("{} cannot have its name, since {}; rename it with ncrename", owner, reason));
    }
    if (variable.type == ElementType::character) {
      refuse(fmt::format("{} has characters, which Zarr does not have; leave it out with --skip",
                         owner));
    }
    static_cast<void>(zarr_attributes(variable.attributes, owner));
    const VariableSettings wanted = settings.of(variable);
    if (wanted.filters && wanted.filters->shuffle) {
      refuse("Zarr has no shuffle; leave out --shuffle");
    }
    const VariableFilters filters = filters_of(variable, wanted);
    if (filters.other != 0) {
      refuse(fmt::format("{} goes through filter {}; choose its compression with --compress", owner,
                         filters.other));
    }
    for (const zarr::Codec& codec : codecs_of(variable, settings)) {
      if (const std::string reason = zarr::codec_unavailable(codec.name); !reason.empty()) {
        refuse(fmt::format("{} needs the codec '{}', and {}", owner, codec.name, reason));
      }
    }
  }
}

FileContents as_in_zarr(const FileContents& contents) {
  FileContents there = contents;
  const auto changed = [](std::vector<FileAttribute>& attributes,
                          std::optional<ElementType> variable) {
    attributes = attributes_of_zarr(zarr_attributes(attributes, ""), variable, "");
  };
  changed(there.attributes, std::nullopt);
  for (FileDimension& dimension : there.dimensions) dimension.is_unlimited = false;
  for (FileVariable& variable : there.variables) changed(variable.attributes, variable.type);
  return there;
}

std::unique_ptr<Target> create_zarr(const Comm& comm, const std::string& path,
                                    const FileContents& contents, const std::vector<Extent>& chunks,
                                    const Settings& settings) {
  return std::make_unique<ZarrTarget>(comm, path, contents, chunks, settings);
}

}  // namespace slabmark::convert
