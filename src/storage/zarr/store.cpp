#include "storage/zarr/store.hpp"

#include <cerrno>
#include <filesystem>
#include <set>
#include <sys/stat.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::zarr {

namespace fs = std::filesystem;

namespace {

constexpr const char* metadata_file = "/zarr.json";

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return;
  throw IoError(fmt::format("mkdir failed on '{}': {}.", path, posix::explain(errno)));
}

void write_json(const std::string& path, const Json& json) {
  const std::string text = json.dump();
  posix::File file = posix::File::create(path);
  file.write_at(0, reinterpret_cast<const std::byte*>(text.data()), text.size());
  file.close();
}

Json group_metadata(const Json& attributes) {
  return Json::object({{"attributes", attributes}, {"zarr_format", 3}, {"node_type", "group"}});
}

/// The groups of all arrays, but the root, so that outer ones come before inner ones.
template <class Arrays>
std::set<std::string> groups_of(const Arrays& arrays) {
  std::set<std::string> groups;
  for (const auto& one : arrays) {
    for (auto end = one.name.find('/'); end != std::string::npos;
         end = one.name.find('/', end + 1)) {
      groups.insert(one.name.substr(0, end));
    }
  }
  return groups;
}

}  // namespace

std::string unfit_name(const std::string& name) {
  constexpr std::size_t longest = 255;  // of a file's name, on all usual file systems
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty()) return "a part of it is empty";
    if (part.find_first_not_of('.') == std::string::npos) return "a part of it has dots only";
    if (part.starts_with("__")) return "a part of it begins with '__', which Zarr reserves";
    if (part == metadata_file + 1) return "a part of it is 'zarr.json'";
    if (part.size() > longest) return "a part of it is longer than 255 bytes";
    if (part.find('\0') != std::string::npos) return "it has a zero byte";
    begin = end + 1;
  }
  return "";
}

void create_store(const std::string& path) { make_directory(path); }

void write_metadata(const std::string& path, std::span<const NamedArray> arrays,
                    std::span<const Attribute> attributes) {
  std::vector<NamedJson> all;
  for (const NamedArray& one : arrays) all.push_back({one.name, metadata_of(one.array)});
  Json texts = Json::object();
  for (const Attribute& attribute : attributes) texts[attribute.name] = attribute.text;
  write_metadata(path, all, texts);
}

void write_metadata(const std::string& path, std::span<const NamedJson> arrays,
                    const Json& attributes) {
  Json all = Json::object();
  const auto add = [&](const std::string& name, const Json& json) {
    make_directory(path + '/' + name);
    write_json(path + '/' + name + metadata_file, json);
    all[name] = json;
  };
  for (const std::string& group : groups_of(arrays)) add(group, group_metadata(Json::object()));
  for (const NamedJson& one : arrays) add(one.name, one.json);
  Json root = group_metadata(attributes);
  root["consolidated_metadata"] =
      Json::object({{"kind", "inline"}, {"must_understand", false}, {"metadata", all}});
  write_json(path + metadata_file, root);
}

void sync_metadata(const std::string& path, std::span<const NamedArray> arrays) {
  std::set<std::string> folders = groups_of(arrays);
  for (const NamedArray& one : arrays) folders.insert(one.name);
  folders.insert(".");
  for (const std::string& folder : folders) {
    for (const std::string& file : {path + '/' + folder, path + '/' + folder + metadata_file}) {
      posix::File::open(file, posix::File::Access::read).sync();
    }
  }
}

std::string read_text(const std::string& path) {
  posix::File file = posix::File::open(path, posix::File::Access::read);
  std::string text(file.size(), '\0');
  file.read_at(0, reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

std::vector<std::string> files_of(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
  }
  return files;
}

}  // namespace slabmark::zarr
