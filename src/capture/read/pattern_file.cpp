#include "capture/read/pattern_file.hpp"

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include <fmt/format.h>
#include <hdf5.h>

#include "capture/read/growing_dataset.hpp"
#include "capture/read/header.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t version_of_format = 1;
constexpr char version_attribute[] = "slabmark_pattern";
constexpr std::size_t cache_bytes = std::size_t{2} << 20;  // of some chunks

template <class Number>
hid_t memory_type() {
  if constexpr (std::is_same_v<Number, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<Number, std::uint32_t>) return H5T_NATIVE_UINT32;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return H5T_NATIVE_UINT64;
}

template <class Number>
hid_t file_type() {
  if constexpr (std::is_same_v<Number, std::uint8_t>) return H5T_STD_U8LE;
  if constexpr (std::is_same_v<Number, std::uint32_t>) return H5T_STD_U32LE;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return H5T_STD_U64LE;
}

template <class Number>
GrowingDataset::NumberTypes types_of() {
  return {file_type<Number>(), memory_type<Number>()};
}

hdf5::Handle open_file(const std::string& path) {
  hdf5::silence();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(fmt::format(
        "There is {} file '{}'; name one that 'slabmark capture' made.",
        std::filesystem::exists(path, error) ? "something else than a regular" : "no", path));
  }
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5::without_locks(path).get());
  if (file < 0) {
    throw InputError(fmt::format(
        "'{}' is no pattern file, or a damaged or truncated one: HDF5 cannot open it.", path));
  }
  return {file, H5Fclose};
}

}  // namespace

bool is_pattern_file(const std::string& path) {
  hdf5::silence();
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5::without_locks(path).get()),
                          H5Fclose);
  return file.is_open() && H5Aexists(file.get(), version_attribute) > 0;
}

PatternFile::PatternFile(const std::string& path, FileChoice choice)
    : path_(path), file_(open_file(path)), choice_(std::move(choice)) {
  std::uint64_t version = 0;
  if (H5Aexists(file_.get(), version_attribute) > 0) {
    const hdf5::Handle attribute(H5Aopen(file_.get(), version_attribute, H5P_DEFAULT), H5Aclose);
    if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &version) < 0) version = 0;
  }
  if (version == 0) {
    throw InputError(fmt::format(
        "'{}' is an HDF5 file, but no pattern file: it has no attribute {}. 'slabmark capture' "
        "makes pattern files; decomposition maps are for 'slabmark bench decomp --map'.",
        path, version_attribute));
  }
  if (version > version_of_format) {
    throw InputError(fmt::format(
        "'{}' is a pattern file of version {}, this Slabmark reads up to {}; take a newer "
        "Slabmark.",
        path, version, version_of_format));
  }
  origin_ = text_attribute("origin");
  guess_ = text_attribute("guess");
  const std::vector<std::uint8_t> text = read_all<std::uint8_t>("header");
  header_ = Json::parse_if_valid({reinterpret_cast<const char*>(text.data()), text.size()})
                .value_or(nullptr);
  check_header(header_, path);
  ranks_ = header_["ranks"].size();
  if (ranks_ == 0) throw InputError(fmt::format("'{}' is of no rank.", path));
  for (auto& [name, begins] : {std::pair{"events", &events_begin_},
                               {"lists", &lists_begin_},
                               {"files", &files_begin_},
                               {"definitions", &definitions_begin_}}) {
    *begins = read_all<std::uint64_t>((std::string(name) + "_begin").c_str());
    check_begins(name, *begins);
  }
  if (!choice_.is_everything()) choose_ranks();
  datasets_.clear();  // what was read whole is not needed again
}

void PatternFile::choose_ranks() {
  const std::vector<std::uint32_t> all = read_all<std::uint32_t>("files");
  const auto is_chosen = [&](std::uint32_t number) {
    return number < files().size() && takes(files()[number]);
  };
  for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
    const auto place = [&](std::uint64_t at) {
      return all.begin() + static_cast<std::ptrdiff_t>(files_begin_[at]);
    };
    if (std::any_of(place(rank), place(rank + 1), is_chosen)) chosen_ranks_.push_back(rank);
  }
  if (chosen_ranks_.empty()) {
    throw InputError(fmt::format(
        "In '{}' no rank opened a file of --library and --file; leave them out.", path_));
  }
  ranks_ = chosen_ranks_.size();
}

void PatternFile::check_begins(const char* name, const std::vector<std::uint64_t>& begins) const {
  if (begins.size() != ranks_ + 1 || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end()) || begins.back() != length(name)) {
    throw InputError(
        fmt::format("'{}' is damaged: {}_begin does not say where the {} of {} ranks begin.", path_,
                    name, name, ranks_));
  }
}

std::string PatternFile::text_attribute(const char* name) const {
  if (H5Aexists(file_.get(), name) <= 0) return "";
  const hdf5::Handle attribute(H5Aopen(file_.get(), name, H5P_DEFAULT), H5Aclose);
  const hdf5::Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_STRING) return "";
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), &text) < 0 || !text) return "";
    std::string copy = text;
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(type.get()), '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return "";
  return text.substr(0, text.find('\0'));
}

std::uint64_t PatternFile::length(const char* name) const {
  hsize_t length = 0;
  if (H5Lexists(file_.get(), name, H5P_DEFAULT) > 0) {
    const hdf5::Handle dataset(H5Dopen2(file_.get(), name, H5P_DEFAULT), H5Dclose);
    const hdf5::Handle space(H5Dget_space(dataset.get()), H5Sclose);
    if (H5Sget_simple_extent_ndims(space.get()) == 1) {
      H5Sget_simple_extent_dims(space.get(), &length, nullptr);
      return length;
    }
  }
  throw InputError(
      fmt::format("'{}' is damaged: it has no dataset '{}' of one dimension.", path_, name));
}

const hdf5::Handle& PatternFile::opened(const char* name) const {
  hdf5::Handle& dataset = datasets_[name];
  if (!dataset.is_open()) {
    const hdf5::Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, cache_bytes,
                       H5D_CHUNK_CACHE_W0_DEFAULT);
    dataset = {H5Dopen2(file_.get(), name, access.get()), H5Dclose};
  }
  return dataset;
}

template <class Number>
std::vector<Number> PatternFile::read(const char* name, std::uint64_t begin,
                                      std::uint64_t end) const {
  std::vector<Number> numbers(end - begin);
  if (numbers.empty()) return numbers;
  const hdf5::Handle& dataset = opened(name);
  const hdf5::Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const hsize_t start = begin;
  const hsize_t count = numbers.size();
  const hdf5::Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) < 0 ||
      H5Dread(dataset.get(), memory_type<Number>(), memory.get(), space.get(), H5P_DEFAULT,
              numbers.data()) < 0) {
    throw InputError(fmt::format("'{}' is damaged or truncated: HDF5 cannot read its dataset '{}'.",
                                 path_, name));
  }
  return numbers;
}

template <class Number>
std::vector<Number> PatternFile::read_all(const char* name) const {
  return read<Number>(name, 0, length(name));
}

std::shared_ptr<const RankPart> PatternFile::read(std::uint64_t rank) const {
  if (!chosen_ranks_.empty()) rank = chosen_ranks_[rank];
  if (last_ && last_rank_ == rank) return last_;
  RankPart part;
  part.events = read<std::uint8_t>("events", events_begin_[rank], events_begin_[rank + 1]);
  part.lists = read<std::uint8_t>("lists", lists_begin_[rank], lists_begin_[rank + 1]);
  part.files = read<std::uint32_t>("files", files_begin_[rank], files_begin_[rank + 1]);
  part.definitions =
      read<std::uint32_t>("definitions", definitions_begin_[rank], definitions_begin_[rank + 1]);
  last_ = std::make_shared<const RankPart>(std::move(part));
  last_rank_ = rank;
  return last_;
}

std::string PatternFile::place(const char* what, std::uint64_t rank) const {
  return fmt::format("The {} of rank {} in '{}'", what, rank, path_);
}

bool RankReader::next(CapturedEvent& event) {
  while (events.next(event)) {
    if (file_.takes_all() || file_.takes(file(event.file))) return true;
  }
  return false;
}

const RankReader::Call& RankReader::call(std::uint64_t number) const {
  auto known = calls_.find(number);
  if (known == calls_.end()) {
    const Json& described = definition(number);
    Call call{described.value("name", ""), described.value("effect", "other")};
    known = calls_.emplace(number, std::move(call)).first;
  }
  return known->second;
}

std::uint32_t RankReader::file_number(std::uint64_t opening) const {
  if (opening < part->files.size() && part->files[opening] < file_.files().size()) {
    return part->files[opening];
  }
  throw InputError(
      fmt::format("'{}' is damaged: an event names opening {} of a file, which is not there.",
                  file_.path(), opening));
}

std::uint32_t RankReader::definition_number(std::uint64_t definition) const {
  if (definition < part->definitions.size() &&
      part->definitions[definition] < file_.definitions().size()) {
    return part->definitions[definition];
  }
  throw InputError(fmt::format("'{}' is damaged: an event names definition {}, which is not there.",
                               file_.path(), definition));
}

PatternWriter::PatternWriter(const std::string& path) : path_(path) {
  hdf5::silence();
  file_ =
      hdf5::own(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, hdf5::without_locks(path).get()),
                H5Fclose, "H5Fcreate", path);
  const auto dataset = [&](const char* name, GrowingDataset::NumberTypes types) {
    return std::make_unique<GrowingDataset>(file_, name, path_, types);
  };
  events_ = dataset("events", types_of<std::uint8_t>());
  lists_ = dataset("lists", types_of<std::uint8_t>());
  files_ = dataset("files", types_of<std::uint32_t>());
  definitions_ = dataset("definitions", types_of<std::uint32_t>());
}

PatternWriter::~PatternWriter() = default;

void PatternWriter::add_events(std::span<const std::uint8_t> bytes) {
  events_->add(std::as_bytes(bytes));
}
void PatternWriter::add_lists(std::span<const std::uint8_t> bytes) {
  lists_->add(std::as_bytes(bytes));
}

void PatternWriter::end_rank(std::span<const std::uint32_t> files,
                             std::span<const std::uint32_t> definitions) {
  files_->add(std::as_bytes(files));
  definitions_->add(std::as_bytes(definitions));
  events_begin_.push_back(events_->length());
  lists_begin_.push_back(lists_->length());
  files_begin_.push_back(files_->length());
  definitions_begin_.push_back(definitions_->length());
}

void PatternWriter::write_begins(const char* name, const std::vector<std::uint64_t>& begins) {
  GrowingDataset dataset(file_, name, path_, types_of<std::uint64_t>());
  dataset.add(std::as_bytes(std::span(begins)));
  dataset.end();
}

void PatternWriter::finish(const Json& header, const std::string& origin) {
  for (auto* dataset : {&events_, &lists_, &files_, &definitions_}) (*dataset)->end();
  write_begins("events_begin", events_begin_);
  write_begins("lists_begin", lists_begin_);
  write_begins("files_begin", files_begin_);
  write_begins("definitions_begin", definitions_begin_);

  const std::string text = header.dump();
  GrowingDataset described(file_, "header", path_, types_of<std::uint8_t>());
  described.add(std::as_bytes(std::span(text)));
  described.end();

  const auto scalar = hdf5::own(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", path_);
  const auto put = [&](const char* name, hid_t type, hid_t in_memory, const void* value) {
    const auto attribute =
        hdf5::own(H5Acreate2(file_.get(), name, type, scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose, "H5Acreate2", path_);
    hdf5::check(H5Awrite(attribute.get(), in_memory, value), "H5Awrite", path_);
  };
  const auto put_text = [&](const char* name, const std::string& value) {
    const auto type = hdf5::own(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", path_);
    hdf5::check(H5Tset_size(type.get(), value.size() + 1), "H5Tset_size", path_);
    hdf5::check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset", path_);
    put(name, type.get(), type.get(), value.c_str());
  };
  put(version_attribute, H5T_STD_U64LE, H5T_NATIVE_UINT64, &version_of_format);
  put_text("origin", origin);
  put_text("writer", "Slabmark " + std::string(version()));

  for (auto* dataset : {&events_, &lists_, &files_, &definitions_}) dataset->reset();
  hdf5::check(H5Fclose(file_.release()), "H5Fclose", path_);
}

}  // namespace slabmark
