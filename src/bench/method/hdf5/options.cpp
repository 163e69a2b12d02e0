#include "bench/method/hdf5/options.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "accel/hdf5_connector/api/slablog.h"

namespace slabmark {

namespace {

const Words<H5F_libver_t>& format_versions() {
  static const Words<H5F_libver_t> versions{{{"earliest", H5F_LIBVER_EARLIEST},
                                             {"v18", H5F_LIBVER_V18},
                                             {"v110", H5F_LIBVER_V110},
                                             {"v112", H5F_LIBVER_V112},
                                             {"v114", H5F_LIBVER_V114},
#if H5_VERSION_GE(2, 0, 0)
                                             {"v200", H5F_LIBVER_V200},
#endif
                                             {"latest", H5F_LIBVER_LATEST}}};
  return versions;
}

constexpr const char* plugin_file = "libslablog.so";

/// The folder of the connector: beside bin/ or libexec/slabmark/, which the program is in, in a
/// build as in an installation; empty if it is not there.
std::string plugin_folder() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  for (const char* up : {"..", "../.."}) {
    for (const char* folder : {"plugins", "lib/slabmark/plugins", "lib64/slabmark/plugins"}) {
      const auto place = program.parent_path() / up / folder;
      if (std::filesystem::exists(place / plugin_file, unknown)) return place.string();
    }
  }
  return "";
}

}  // namespace

OptionTable<Hdf5Options> hdf5_options() {
  using Options = Hdf5Options;
  OptionTable<Options> table;
  table.add("hdf5.collective", &Options::collective, "off: independent H5Dwrite and H5Dread");
  table.add("hdf5.collective_metadata", &Options::collective_metadata,
            "off: each rank reads and writes metadata on its own");
  table.add("hdf5.chunk", &Options::chunks,
            "chunks: pattern (as the pattern says), none (contiguous), lengths of the fastest "
            "dimensions such as 4x866, or a number of elements such as 64K",
            ChunkText{});
  table.add("hdf5.time_chunk", &Options::time_chunk, "time steps that a chunk holds", Size{1});
  table.add("hdf5.fill", &Options::fill, "when fill values are written",
            Words<H5D_fill_time_t>{{{"never", H5D_FILL_TIME_NEVER},
                                    {"alloc", H5D_FILL_TIME_ALLOC},
                                    {"ifset", H5D_FILL_TIME_IFSET}}});
  table.add("hdf5.alloc", &Options::alloc, "when space is allocated",
            Words<H5D_alloc_time_t>{{{"default", H5D_ALLOC_TIME_DEFAULT},
                                     {"early", H5D_ALLOC_TIME_EARLY},
                                     {"incr", H5D_ALLOC_TIME_INCR},
                                     {"late", H5D_ALLOC_TIME_LATE}}});
  table.add("hdf5.align", &Options::alignment,
            "objects in the file begin at multiples of so many bytes", Size{1});
  table.add("hdf5.align_threshold", &Options::align_threshold,
            "smallest object, in bytes, that hdf5.align applies to");
  table.add("hdf5.connector", &Options::logged,
            "what files go through: slablog is the log-layout connector",
            Words<bool>{{{"native", false}, {"slablog", true}}});
  table.add("hdf5.log_view", &Options::log_view,
            "what other programs see of a log; none: nothing until 'slabmark log repair'",
            Words<std::string>{{{"vds", "vds"}, {"materialise", "materialise"}, {"none", "none"}}});
  table.add(
      "hdf5.time", &Options::fixed_time,
      "grow: time is unlimited, and datasets grow as steps come; fixed: they get all steps at "
      "once",
      Words<bool>{{{"grow", false}, {"fixed", true}}});
  table.add("hdf5.precreate", &Options::precreate,
            "on: rank 0 alone makes the file and its datasets, then all ranks open it; needs "
            "hdf5.time=fixed where datasets have time");
  table.add("hdf5.deflate", &Options::deflate,
            "level at which chunks are compressed; 0: they are not", Size{0, 9});
  table.add("hdf5.zfp", &Options::zfp,
            "on: chunks go through the ZFP filter, without loss, where HDF5 finds it");
  table.add("hdf5.shuffle", &Options::shuffle,
            "on: bytes of the same weight side by side, before chunks are compressed");
  table.add("hdf5.filter", &Options::filter,
            "a further filter of chunks, built in or a plugin that HDF5 finds", FilterText{});
  table.add("hdf5.fletcher32", &Options::fletcher32, "on: each chunk has a checksum");
  table.add("hdf5.into_existing", &Options::replace,
            "on: an empty file at the path is used, not refused");
  table.add(
      "hdf5.libver", &Options::low,
      "lowest format version; the highest is v110, which installed tools read, unless this is "
      "higher",
      format_versions());
  return table;
}

Hdf5Options completed(Hdf5Options options) {
  options.high = std::max(options.low, options.high);
  if (options.logged) {
    options.connector = [view = options.log_view](hid_t list) {
      H5PLprepend(plugin_folder().c_str());
      return slablog_set(list, fmt::format("view={}", view).c_str());
    };
  }
  return options;
}

std::string missing_connector() {
  if (!plugin_folder().empty()) return "";
  return fmt::format("the connector {} is not where the programs were installed", plugin_file);
}

std::optional<std::string> hdf5_unmet(const Hdf5Options& options) {
  if (options.deflate > 0 && !hdf5::has_deflate()) return "this HDF5 has no deflate filter";
  if (options.zfp && !hdf5::has_zfp()) {
    return "HDF5 finds no ZFP filter; name the folder of its plugin by HDF5_PLUGIN_PATH";
  }
  if (options.filter.number != H5Z_FILTER_NONE && !hdf5::has_filter(options.filter.number)) {
    return fmt::format("HDF5 finds no filter {}; name the folder of its plugin by HDF5_PLUGIN_PATH",
                       options.filter.number);
  }
  if (options.has_filters() && !options.collective) {
    return "HDF5 writes compressed chunks in parallel only with collective calls";
  }
  return std::nullopt;
}

std::string FilterText::text(const hdf5::Filter& filter) const {
  if (filter.number == H5Z_FILTER_NONE) return "none";
  if (filter.values.empty()) return fmt::to_string(filter.number);
  return fmt::format("{}:{}", filter.number, fmt::join(filter.values, ","));
}

hdf5::Filter FilterText::parse(const std::string& text, const std::string& what) const {
  if (text == "none") return {};
  const auto colon = text.find(':');
  const Size number{1, H5Z_FILTER_MAX};
  const Size value{0, std::numeric_limits<unsigned>::max()};
  hdf5::Filter filter{static_cast<H5Z_filter_t>(number.parse(text.substr(0, colon), what)), {}};
  for (auto at = colon; at != std::string::npos;) {
    const auto end = text.find(',', at + 1);
    filter.values.push_back(
        static_cast<unsigned>(value.parse(text.substr(at + 1, end - at - 1), what)));
    at = end;
  }
  return filter;
}

std::vector<std::string> filter_options() {
  return {"hdf5.deflate", "hdf5.zfp", "hdf5.shuffle", "hdf5.filter", "hdf5.fletcher32"};
}

std::string hdf5_version_name(H5F_libver_t bound) { return format_versions().text(bound); }

}  // namespace slabmark
