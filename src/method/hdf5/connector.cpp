#include "method/hdf5/connector.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "slablog/slablog.h"

namespace slabmark {

namespace {

constexpr const char* plugin_file = "libslablog.so";

/// The folder of the connector: beside the program's own, in a build as in an installation; empty
/// if it is not there.
std::string plugin_folder() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  for (const char* folder :
       {"../plugins", "../lib/slabmark/plugins", "../lib64/slabmark/plugins"}) {
    const auto place = program.parent_path() / folder;
    if (std::filesystem::exists(place / plugin_file, unknown)) return place.string();
  }
  return "";
}

}  // namespace

std::string missing_connector() {
  if (!plugin_folder().empty()) return "";
  return fmt::format("the connector {} is not where the programs were installed", plugin_file);
}

OptionInfo connector_option() {
  return {"hdf5.connector", "native",
          "what files go through: native, or slablog, the log-layout connector"};
}

OptionInfo log_view_option() {
  return {"hdf5.log_view", "vds",
          "what other programs see of a log: vds, materialise, or none until slablog-repair"};
}

std::function<herr_t(hid_t list)> connector_of(const Settings& settings, bool always) {
  const auto name = settings.text("hdf5.connector", "native");
  const auto view = settings.text("hdf5.log_view", "vds");
  if (name != "native" && name != "slablog") {
    throw InputError(fmt::format("Option hdf5.connector is '{}'; it takes native, slablog.", name));
  }
  if (view != "vds" && view != "materialise" && view != "none") {
    throw InputError(
        fmt::format("Option hdf5.log_view is '{}'; it takes vds, materialise, none.", view));
  }
  if (name == "native" && !always) return nullptr;
  return [view](hid_t list) {
    H5PLprepend(plugin_folder().c_str());
    return slablog_set(list, fmt::format("view={}", view).c_str());
  };
}

}  // namespace slabmark
