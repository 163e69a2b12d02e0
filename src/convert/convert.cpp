#include "convert/convert.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "convert/classic_target.hpp"
#include "convert/journal.hpp"
#include "convert/merge.hpp"
#include "convert/netcdf4_header.hpp"
#include "convert/netcdf4_target.hpp"
#include "convert/quantize.hpp"
#include "convert/read_ahead.hpp"
#include "convert/source.hpp"
#include "convert/unfinished_file.hpp"
#include "convert/zarr_target.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/parallel/agree.hpp"
#include "storage/posix/cached_pages.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/free_path.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark::convert {

namespace {

// A rank holds what it read, a window of the exchange, and chunks before and after its filters.
constexpr std::uint64_t parts_of_memory = 4;
constexpr std::uint64_t parts_with_thread = parts_of_memory + 1;  // and what is read meanwhile

/// Of a file, or of all files in a store.
std::uint64_t stored_bytes(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  std::uint64_t bytes = 0;
  for (const std::string& file : zarr::files_of(path)) bytes += std::filesystem::file_size(file);
  return bytes;
}

class Converter {
 public:
  Converter(const Comm& comm, ConvertOptions options, std::shared_ptr<Source> source)
      : comm_(comm), options_(std::move(options)), source_(std::move(source)) {
    agreed(comm, [&] {
      plan();
      if (comm.is_root()) open_output();
    });
    is_done_ = comm.broadcast(is_done_) != 0;
    first_batch_ = comm.broadcast(first_batch_);
  }

  Conversion run(const OnStep& on_step) {
    Conversion done{1, contents().variables.size(), contents().bytes(), bytes_before(), 0};
    if (!is_done_) make(on_step);
    agreed(comm_, [&] {
      if (comm_.is_root()) done.stored_bytes = stored_bytes(options_.output);
    });
    return done;
  }

  /// On root: no later run needs to know of this one.
  void forget() {
    if (journal_) journal_->remove();
  }

 private:
  const FileContents& contents() const { return source_->contents(); }
  std::uint64_t part_of_memory() const {
    return options_.memory / (source_->reads_in_threads() ? parts_with_thread : parts_of_memory);
  }
  std::uint64_t steps() const { return batches_.size() * (options_.verify ? 2 : 1); }

  void open_output() {
    if (options_.resume) {
      journal_.emplace(options_.output, identity());
      is_done_ = journal_->is_finished() ? 1 : 0;
      if (is_done_ != 0) return;
      first_batch_ = journal_->batches();
    }
    posix::Output output{options_.overwrite, "-o"};
    if (!options_.replaces_input) output.inputs = options_.inputs;
    posix::require_replaceable(options_.output, output);
  }

  Json identity() const {
    return conversion_identity(options_.inputs, Json(options_.given), comm_.size());
  }

  void make(const OnStep& on_step) {
    Journal* const journal = journal_ ? &*journal_ : nullptr;
    // Before there is anything to remove: another run may have the file.
    agreed(comm_, [&] {
      if (journal == nullptr) return;
      journal->begin();
      if (first_batch_ > 0) journal->restore();
    });
    UnfinishedFile made(comm_, options_.output, options_.resume, journal);
    try {
      write(made.path(), on_step);
      if (options_.verify) verify(made.path(), on_step);
      agreed(comm_, [&] {
        if (!comm_.is_root()) return;
        if (options_.sync && options_.kind != NetcdfKind::zarr) {
          posix::File::open(made.path(), posix::File::Access::write).sync();
        }
        made.keep();
      });
    } catch (const InputError&) {
      // The inputs are at fault, so a later run could not go on either.
      made.give_up();
      forget();
      throw;
    } catch (const IoError&) {
      if (journal != nullptr && journal->batches() == 0) forget();
      throw;
    }
  }

  /// Elements that an earlier run has written.
  std::uint64_t bytes_before() const {
    if (is_done_ != 0) return contents().bytes();
    std::uint64_t bytes = 0;
    for (std::size_t b = 0; b < first_batch_; ++b) {
      for (const VariableBox& box : batches_[b]) {
        bytes += element_count(box.size) * size_of(contents().variables[box.variable].type);
      }
    }
    return bytes;
  }

  // All that can be refused is refused here, before anything is written.
  void plan() {
    if (options_.kind == NetcdfKind::netcdf4) {
      require_netcdf4_names(contents(), options_.inputs.front());
      require_storage(options_.settings, contents());
    } else if (options_.kind == NetcdfKind::zarr) {
      require_zarr(contents(), options_.settings, options_.inputs.front());
    } else {
      require_classic(contents(), options_.kind, options_.inputs.front());
    }
    cuts_ = contents();
    for (FileVariable& variable : cuts_.variables) {
      chunks_.push_back(chunk_in_target(variable));
      // The rank that reads a chunk of a store writes it.
      if (options_.kind == NetcdfKind::zarr) variable.stored_chunk = chunks_.back();
    }
    for (std::size_t v = 0; v < chunks_.size(); ++v) {
      const FileVariable& variable = contents().variables[v];
      require_room(variable, chunks_[v]);
      require_room(variable, variable.stored_chunk);
    }
    const auto ranks = static_cast<std::uint64_t>(comm_.size());
    batches_ = batches_of(contents(), chunks_, part_of_memory() * ranks);
  }

  Extent chunk_in_target(const FileVariable& variable) const {
    const VariableSettings settings = options_.settings.of(variable);
    if (options_.kind == NetcdfKind::netcdf4) return chunk_of(contents(), variable, settings);
    if (options_.kind != NetcdfKind::zarr) return {};
    Extent chunk = chunk_of(contents(), variable, settings, true);
    const Extent extent = contents().extent_of(variable);
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      chunk[d] = std::max<std::uint64_t>(1, std::min(chunk[d], extent[d]));
    }
    return chunk;
  }

  void require_room(const FileVariable& variable, const Extent& chunk) const {
    const std::uint64_t bytes =
        product_or_most(chunk.empty() ? 1 : element_count(chunk), size_of(variable.type));
    if (bytes <= part_of_memory()) return;
    throw InputError(fmt::format(
        "A chunk of variable '{}' has {}, and --memory {} leaves {} for one; raise --memory, or "
        "choose smaller chunks with --chunk.",
        variable.name, format_bytes(bytes), format_bytes(options_.memory),
        format_bytes(part_of_memory())));
  }

  void write(const std::string& path, const OnStep& on_step) {
    const std::unique_ptr<Target> target = create(path);
    const posix::CachedPages pages =
        options_.drop_behind ? posix::CachedPages(path) : posix::CachedPages();
    std::unique_ptr<ReadAhead> reader;
    agreed(comm_, [&] { reader = reader_for(comm_.rank(), first_batch_); });
    Saving saving;
    for (std::size_t b = first_batch_; b < batches_.size(); ++b) {
      on_step(b, steps());
      Shares* shares = nullptr;
      agreed(comm_, [&] { shares = &reader->next(); });
      target->write(batches_[b], shares->runs, shares->memory.data());
      pages.begin_writing();
      pages.drop();  // what has reached the disk since the last batches
      if (options_.resume) save(b + 1, *target, saving);
    }
    if (options_.sync && options_.kind == NetcdfKind::zarr) target->save();
    target->close();
  }

  /// When states were saved, and how long that took.
  struct Saving {
    std::chrono::steady_clock::time_point end;
    std::chrono::steady_clock::duration seconds{0};
  };

  // Saving waits for the disk, so that it may take a twentieth of the time.
  void save(std::uint64_t batches, Target& target, Saving& saving) {
    constexpr int least_pause = 20;
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = now - saving.end >= least_pause * saving.seconds;
    if (comm_.broadcast(std::uint64_t{is_due}) == 0) return;
    const TargetState state = target.save();
    agreed(comm_, [&] {
      if (comm_.is_root()) journal_->save(batches, state);
    });
    saving.end = std::chrono::steady_clock::now();
    saving.seconds = saving.end - now;
  }

  std::unique_ptr<Target> create(const std::string& path) const {
    const TargetState other_rank;
    const TargetState* const resumed =
        first_batch_ == 0 ? nullptr : (journal_ ? &journal_->state() : &other_rank);
    if (options_.kind == NetcdfKind::zarr) {
      return create_zarr(comm_, path, contents(), chunks_, options_.settings);
    }
    if (options_.kind != NetcdfKind::netcdf4) {
      return create_classic(comm_, path, contents(), options_.kind, resumed);
    }
    return create_netcdf4(comm_, path,
                          {contents(), chunks_, options_.settings, part_of_memory(), resumed});
  }

  std::unique_ptr<ReadAhead> reader_for(int rank, std::size_t first) const {
    return std::make_unique<ReadAhead>(*source_, cuts_, batches_, static_cast<std::uint64_t>(rank),
                                       static_cast<std::uint64_t>(comm_.size()), first);
  }

  // Each element is read on another rank than wrote it.
  void verify(const std::string& path, const OnStep& on_step) {
    const std::unique_ptr<Source> made = open_to_verify(comm_, path, contents());
    std::unique_ptr<ReadAhead> reader;
    agreed(comm_, [&] {
      compare_structure(made->contents());
      reader = reader_for((comm_.rank() + 1) % comm_.size(), 0);
    });
    Shares found;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      on_step(batches_.size() + b, steps());
      agreed(comm_, [&] {
        const Shares& due = reader->next();
        found.runs = due.runs;
        read(*made, batches_[b], found);
        compare(batches_[b], due, found);
      });
    }
    on_step(steps(), steps());
  }

  void compare_structure(const FileContents& made) const {
    const FileContents due =
        options_.kind == NetcdfKind::zarr ? as_in_zarr(contents()) : contents();
    const bool is_same = made.dimensions == due.dimensions && made.attributes == due.attributes &&
                         std::ranges::equal(made.variables, due.variables, is_same_variable);
    if (!is_same) fail("its dimensions, variables or attributes are others");
  }

  void compare(const Batch& batch, const Shares& due, const Shares& found) const {
    const std::byte* a = due.memory.data();
    const std::byte* b = found.memory.data();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const FileVariable& variable = contents().variables[batch[i].variable];
      const std::uint64_t bytes = due.runs[i].length * size_of(variable.type);
      if (!std::equal(a, a + bytes, b)) fail(fmt::format("variable '{}' differs", variable.name));
      a += bytes;
      b += bytes;
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw IoError(fmt::format(
        "The written data differ from '{}': {}. '{}' is as it was before; look for a failing disk, "
        "and convert again.",
        options_.inputs.front(), what, options_.output));
  }

  const Comm& comm_;
  const ConvertOptions options_;
  std::shared_ptr<Source> source_;
  FileContents cuts_;           ///< with the chunks at which shares are cut
  std::vector<Extent> chunks_;  ///< of the target, by variable
  std::vector<Batch> batches_;
  std::optional<Journal> journal_;  ///< on root, with options_.resume
  std::uint64_t is_done_ = 0;       ///< by an earlier run
  std::uint64_t first_batch_ = 0;   ///< that no earlier run has written
};

// All variables are there while it is found which of them others need, and so are not rounded.
// Files without any chosen variable are left out.
std::vector<SeriesFile> changed(std::vector<SeriesFile> files, const ConvertOptions& options) {
  std::vector<const FileContents*> all;
  for (const SeriesFile& file : files) all.push_back(&file.source->contents());
  require_names(all, options.selection);
  require_in_use(options.settings, all);
  for (SeriesFile& file : files) {
    file.source = quantize(std::move(file.source), options.settings);
    if (options.selection.is_all()) continue;
    file.source = select(std::move(file.source), options.selection);
  }
  if (options.selection.only.empty()) return files;
  std::erase_if(files,
                [](const SeriesFile& file) { return file.source->contents().variables.empty(); });
  return files;
}

std::shared_ptr<Source> open(const Comm& comm, const ConvertOptions& options) {
  std::vector<SeriesFile> files;
  for (const std::string& path : options.inputs) files.push_back({path, open_source(comm, path)});
  std::shared_ptr<Source> source;
  agreed(comm, [&] {
    source = combine(changed(std::move(files), options));
    if (options.drop_behind) source->drop_behind();
  });
  return source;
}

ConvertOptions options_for(const std::string& variable, ConvertOptions options) {
  options.output.replace(options.output.find(each_variable), each_variable.size(), variable);
  return options;
}

/// A conversion for each variable that has a file of its own.
std::vector<std::unique_ptr<Converter>> converters_of(const Comm& comm,
                                                      const ConvertOptions& options,
                                                      const std::shared_ptr<Source>& source) {
  std::vector<std::unique_ptr<Converter>> converters;
  const std::vector<Selection> selections = split(source->contents());
  for (const Selection& one : selections) {
    converters.push_back(std::make_unique<Converter>(comm, options_for(one.only.front(), options),
                                                     select(source, one)));
  }
  if (!converters.empty()) return converters;
  throw InputError(fmt::format(
      "No variable of '{}' has records, so that {} stands for none; name the output in full.",
      options.inputs.front(), each_variable));
}

}  // namespace

// Everything is planned, and refused, before the first file is made.
Conversion convert(const Comm& comm, const ConvertOptions& options, const OnStep& on_step) {
  const std::shared_ptr<Source> source = open(comm, options);
  if (options.output.find(each_variable) == std::string::npos) {
    Converter converter(comm, options, source);
    const Conversion done = converter.run(on_step);
    agreed(comm, [&] { converter.forget(); });
    return done;
  }
  const auto converters = converters_of(comm, options, source);
  Conversion all;
  for (std::size_t i = 0; i < converters.size(); ++i) {
    on_step(i, converters.size());
    const Conversion one = converters[i]->run([](std::uint64_t, std::uint64_t) {});
    ++all.files;
    all.variables += one.variables;
    all.bytes += one.bytes;
    all.bytes_before += one.bytes_before;
    all.stored_bytes += one.stored_bytes;
  }
  agreed(comm, [&] {
    for (const auto& converter : converters) converter->forget();
  });
  return all;
}

}  // namespace slabmark::convert
