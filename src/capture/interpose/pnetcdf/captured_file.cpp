#include "capture/interpose/pnetcdf/captured_file.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "capture/interpose/world/world.hpp"
#include "capture/record/definitions.hpp"
#include "storage/mpiio/info.hpp"
#include "storage/pnetcdf/calls/native.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::capture {

namespace {

std::unordered_map<int, std::unique_ptr<CapturedFile>>& open_files() {
  static auto& files = *new std::unordered_map<int, std::unique_ptr<CapturedFile>>;
  return files;
}

void describe_libraries() {
  static bool done = false;
  if (done) return;
  done = true;
  know_rank();
  const auto library_version =
      reinterpret_cast<decltype(&ncmpi_inq_libvers)>(pnetcdf::find_native("ncmpi_inq_libvers"));
  describe_process(
      text_of({{"libraries", {{"pnetcdf", library_version ? library_version() : "unknown"}}}}));
}

struct Named {
  std::string name;
  nc_type type = NC_NAT;
  MPI_Offset length = 0;  ///< of a dimension, -1: that of records; or of an attribute
};

/// The attributes of a variable, or of the file.
std::vector<Named> attributes_of(int ncid, int varid) {
  std::vector<Named> all;
  int count = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_varnatts)(ncid, varid, &count) != NC_NOERR) return all;
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> name;
    Named attribute;
    if (SLABMARK_NATIVE(ncmpi_inq_attname)(ncid, varid, i, name.data()) != NC_NOERR) continue;
    SLABMARK_NATIVE(ncmpi_inq_att)(ncid, varid, name.data(), &attribute.type, &attribute.length);
    attribute.name = name.data();
    all.push_back(std::move(attribute));
  }
  return all;
}

Json described(const std::vector<Named>& attributes) {
  Json all = Json::array();
  for (const Named& one : attributes) {
    all.push_back({{"name", one.name}, {"type", name_of_type(one.type)}, {"count", one.length}});
  }
  return all;
}

Named dimension_of(int ncid, int dimension, int record_dimension) {
  std::array<char, NC_MAX_NAME + 1> name{};
  Named found;
  SLABMARK_NATIVE(ncmpi_inq_dim)(ncid, dimension, name.data(), &found.length);
  found.name = name.data();
  if (dimension == record_dimension) found.length = -1;
  return found;
}

/// Adds what it says of a variable to a text that no other has.
void append(std::string& text, const Named& one) {
  text.append(one.name).append(1, '\0');
  text.append(reinterpret_cast<const char*>(&one.type), sizeof one.type);
  text.append(reinterpret_cast<const char*>(&one.length), sizeof one.length);
}

/// Variables by all that is said of them: mostly they are those of the file before.
std::unordered_map<std::string, CapturedVariable>& described_variables() {
  static auto& all = *new std::unordered_map<std::string, CapturedVariable>;
  return all;
}

}  // namespace

std::string name_of_type(nc_type type) {
  const auto known = pnetcdf::element_type_of(type);
  return known ? std::string(name_of(*known)) : "type " + std::to_string(type);
}

Id type_id(const std::string& type) {
  return capture::define(text_of({{"kind", "type"}, {"type", type}}));
}

CapturedFile::CapturedFile(int ncid, MPI_Comm comm, const char* path, int mode, MPI_Info info,
                           bool is_new)
    : ncid_(ncid) {
  describe_libraries();
  int format = 0;
  int ranks = 0;
  SLABMARK_NATIVE(ncmpi_inq_format)(ncid, &format);
  MPI_Comm_size(comm, &ranks);
  Json file{{"kind", "file"},
            {"level", "pnetcdf"},
            {"mode", mode},
            {"ranks", ranks},
            {"format", "CDF-" + std::to_string(format == NC_FORMAT_CDF2   ? 2
                                               : format == NC_FORMAT_CDF5 ? 5
                                                                          : 1)},
            {"hints", info == MPI_INFO_NULL ? Json::object() : Json(mpiio::entries_of(info))}};
  name_file(file, path, ranks);
  id_ = open_file(text_of(file));
  if (!is_new) know_variables();
  mark(is_new ? "ncmpi_create" : "ncmpi_open", is_new ? "create" : "open", collective);
}

CapturedVariable CapturedFile::inquire(int varid) const {
  CapturedVariable variable;
  std::array<char, NC_MAX_NAME + 1> name{};
  int count = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_varndims)(ncid_, varid, &count) != NC_NOERR) return variable;
  std::vector<int> ids(static_cast<std::size_t>(count) + 1);
  if (SLABMARK_NATIVE(ncmpi_inq_var)(ncid_, varid, name.data(), &variable.type, &count, ids.data(),
                                     static_cast<int*>(nullptr)) != NC_NOERR) {
    return variable;
  }
  int record_dimension = -1;
  SLABMARK_NATIVE(ncmpi_inq_unlimdim)(ncid_, &record_dimension);
  std::vector<Named> dimensions;
  for (int d = 0; d < count; ++d) {
    dimensions.push_back(dimension_of(ncid_, ids[static_cast<std::size_t>(d)], record_dimension));
  }
  int no_fill = 1;
  SLABMARK_NATIVE(ncmpi_inq_var_fill)(ncid_, varid, &no_fill, static_cast<void*>(nullptr));
  const std::vector<Named> attributes = attributes_of(ncid_, varid);

  std::string text;
  append(text, {name.data(), variable.type, no_fill});
  for (const Named& dimension : dimensions) append(text, dimension);
  text += '\0';
  for (const Named& attribute : attributes) append(text, attribute);
  const auto known = described_variables().find(text);
  if (known != described_variables().end()) return known->second;

  Json extent = Json::array(), maximum = Json::array(), names = Json::array();
  for (const Named& dimension : dimensions) {
    const bool records = dimension.length < 0;
    variable.has_records = variable.has_records || records;
    variable.lengths.push_back(dimension.length);
    extent.push_back(records ? 0 : dimension.length);
    maximum.push_back(records ? Json(nullptr) : Json(dimension.length));
    names.push_back(dimension.name);
  }
  Json definition = {
      {"kind", "dataset"}, {"name", name.data()}, {"type", name_of_type(variable.type)},
      {"extent", extent},  {"dimensions", names}, {"attributes", described(attributes)}};
  if (variable.has_records) definition["maximum"] = maximum;
  if (!no_fill) definition["filled"] = true;
  variable.dataset = capture::define(text_of(definition));
  return described_variables()[text] = variable;
}

const CapturedVariable* CapturedFile::variable(int varid) {
  if (varid < 0) return nullptr;
  const auto place = static_cast<std::size_t>(varid);
  const bool is_known = place < variables_.size() && variables_[place].dataset != no_id;
  if (!is_known) {
    const CapturedVariable found = inquire(varid);  // before there is room: it may be any number
    if (found.dataset == no_id) return nullptr;
    if (place >= variables_.size()) variables_.resize(place + 1);
    variables_[place] = found;
  }
  return &variables_[place];
}

MPI_Offset CapturedFile::records() const {
  int dimension = -1;
  MPI_Offset length = 0;
  SLABMARK_NATIVE(ncmpi_inq_unlimdim)(ncid_, &dimension);
  if (dimension >= 0) SLABMARK_NATIVE(ncmpi_inq_dimlen)(ncid_, dimension, &length);
  return length;
}

MPI_Offset CapturedFile::bytes_a_record() const {
  MPI_Offset bytes = 0;
  SLABMARK_NATIVE(ncmpi_inq_recsize)(ncid_, &bytes);
  return std::max<MPI_Offset>(bytes, 1);
}

int CapturedFile::variables() const {
  int count = 0;
  SLABMARK_NATIVE(ncmpi_inq_nvars)(ncid_, &count);
  return count;
}

MPI_Offset CapturedFile::begin_of(int varid) const {
  MPI_Offset offset = 0;
  SLABMARK_NATIVE(ncmpi_inq_varoffset)(ncid_, varid, &offset);
  return offset;
}

int CapturedFile::count_attributes(int varid) const {
  int count = 0;
  SLABMARK_NATIVE(ncmpi_inq_varnatts)(ncid_, varid, &count);
  return count;
}

void CapturedFile::know_variables() {
  known_variables_ = variables();
  attributes_.clear();
  for (int varid = 0; varid < known_variables_; ++varid)
    attributes_.push_back(count_attributes(varid));
}

void CapturedFile::define(const char* call, std::span<const std::int64_t> arguments) {
  const int count = variables();
  for (int varid = 0; varid < count; ++varid) {
    const bool is_new = varid >= known_variables_;
    if (!is_new && count_attributes(varid) == attributes_[static_cast<std::size_t>(varid)])
      continue;
    // With attributes that were added later it is described anew.
    const Id described =
        is_new && variable(varid) ? variable(varid)->dataset : inquire(varid).dataset;
    if (described != no_id)
      mark(is_new ? "ncmpi_def_var" : "ncmpi_put_att", "define", collective, {}, described);
  }
  know_variables();

  int dimensions = 0;
  SLABMARK_NATIVE(ncmpi_inq_ndims)(ncid_, &dimensions);
  int record_dimension = -1;
  SLABMARK_NATIVE(ncmpi_inq_unlimdim)(ncid_, &record_dimension);
  Json all = Json::array();
  for (int d = 0; d < dimensions; ++d) {
    const Named dimension = dimension_of(ncid_, d, record_dimension);
    all.push_back({{"name", dimension.name},
                   {"length", dimension.length < 0 ? Json(nullptr) : Json(dimension.length)}});
  }
  Event event;
  event.call = define_call(call, "define");
  event.file = id_;
  event.flags = collective;
  event.details =
      capture::define(text_of({{"kind", "structure"},
                               {"dimensions", all},
                               {"attributes", described(attributes_of(ncid_, NC_GLOBAL))}}));
  event.arguments = arguments;
  record(event);
}

void CapturedFile::mark(const char* call, const char* effect, unsigned flags,
                        std::span<const std::int64_t> arguments, Id dataset) {
  Event event;
  event.call = define_call(call, effect);
  event.file = id_;
  event.dataset = dataset;
  event.flags = flags;
  event.arguments = arguments;
  record(event);
}

std::vector<std::uint64_t> CapturedFile::take_requests(std::span<const int> native) {
  std::vector<std::uint64_t> found;
  for (const int id : native) {
    const auto request = requests_.find(id);
    if (request == requests_.end()) continue;  // NC_REQ_NULL, or waited for before
    found.push_back(request->second);
    requests_.erase(request);
  }
  return found;
}

std::recursive_mutex& files_mutex() {
  static auto& mutex = *new std::recursive_mutex;  // programs may write while static objects end
  return mutex;
}

CapturedFile* captured_file(int ncid) {
  const std::lock_guard lock(files_mutex());
  const auto found = open_files().find(ncid);
  return found == open_files().end() ? nullptr : found->second.get();
}

void add_captured_file(int ncid, MPI_Comm comm, const char* path, int mode, MPI_Info info,
                       bool is_new) {
  open_files()[ncid] = std::make_unique<CapturedFile>(ncid, comm, path, mode, info, is_new);
}

void remove_captured_file(int ncid) { open_files().erase(ncid); }

}  // namespace slabmark::capture
