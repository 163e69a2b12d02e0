#include "method/hdf5/settings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "method/hdf5/connector.hpp"

namespace slabmark {

namespace {

/// Value of an option that takes one of a few words.
template <class Value>
Value choice(const Settings& settings, const std::string& name, const std::string& standard,
             const std::vector<std::pair<std::string, Value>>& choices) {
  const auto text = settings.text(name, standard);
  std::string known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + word;
  }
  throw InputError(fmt::format("Option {} is '{}'; it takes {}.", name, text, known));
}

std::vector<std::pair<std::string, H5F_libver_t>> format_versions() {
  return {
    {"earliest", H5F_LIBVER_EARLIEST}, {"v18", H5F_LIBVER_V18}, {"v110", H5F_LIBVER_V110},
        {"v112", H5F_LIBVER_V112}, {"v114", H5F_LIBVER_V114},
#if H5_VERSION_GE(2, 0, 0)
        {"v200", H5F_LIBVER_V200},
#endif
    {
      "latest", H5F_LIBVER_LATEST
    }
  };
}

unsigned deflate_level(const Settings& settings) {
  const std::uint64_t level = settings.count("hdf5.deflate", 0);
  if (level > 9) {
    throw InputError(fmt::format(
        "Option hdf5.deflate is {}; it takes a level from 1 to 9, or 0 for none.", level));
  }
  return static_cast<unsigned>(level);
}

hdf5::CreationSettings creation_settings(const Settings& settings) {
  hdf5::CreationSettings creation;
  creation.fill = choice<H5D_fill_time_t>(settings, "hdf5.fill", "never",
                                          {{"never", H5D_FILL_TIME_NEVER},
                                           {"alloc", H5D_FILL_TIME_ALLOC},
                                           {"ifset", H5D_FILL_TIME_IFSET}});
  creation.alloc = choice<H5D_alloc_time_t>(settings, "hdf5.alloc", "default",
                                            {{"default", H5D_ALLOC_TIME_DEFAULT},
                                             {"early", H5D_ALLOC_TIME_EARLY},
                                             {"incr", H5D_ALLOC_TIME_INCR},
                                             {"late", H5D_ALLOC_TIME_LATE}});
  creation.deflate = deflate_level(settings);
  creation.zfp = settings.flag("hdf5.zfp", false);
  return creation;
}

}  // namespace

hdf5::AccessSettings hdf5_access_settings(const Settings& settings) {
  hdf5::AccessSettings access;
  access.low = choice(settings, "hdf5.libver", "earliest", format_versions());
  access.high = std::max(access.low, access.high);
  access.collective_metadata = settings.flag("hdf5.collective_metadata", true);
  access.alignment = settings.count("hdf5.align", 1);
  access.align_threshold = settings.count("hdf5.align_threshold", 1);
  if (access.alignment == 0) {
    throw InputError("Option hdf5.align is 0; it takes a number of bytes of at least 1.");
  }
  access.replace = settings.flag("hdf5.into_existing", false);
  return access;
}

OptionInfo hdf5_libver_option() {
  return {"hdf5.libver", "earliest",
          "lowest format version: earliest, v18, v110, v112, v114, v200 or latest; the highest is "
          "v110 unless this is higher"};
}

std::vector<OptionInfo> hdf5_options() {
  return {{"hdf5.collective", "on", "off: independent H5Dwrite and H5Dread"},
          {"hdf5.collective_metadata", "on", "off: each rank reads and writes metadata on its own"},
          hdf5_chunk_option(),
          {"hdf5.fill", "never", "when fill values are written: never, alloc or ifset"},
          {"hdf5.alloc", "default", "when space is allocated: default, early, incr or late"},
          {"hdf5.align", "1", "objects in the file begin at multiples of so many bytes"},
          {"hdf5.align_threshold", "1", "smallest object, in bytes, that hdf5.align applies to"},
          connector_option(),
          log_view_option(),
          {"hdf5.time", "grow",
           "grow: time is unlimited, and datasets grow as steps come; fixed: they get all steps at "
           "once"},
          {"hdf5.precreate", "off",
           "on: rank 0 alone makes the file and its datasets, then all ranks open it; needs "
           "hdf5.time=fixed where datasets have time"},
          {"hdf5.deflate", "0", "level from 1 to 9 at which chunks are compressed"},
          {"hdf5.zfp", "off", "on: chunks go through the ZFP filter, where HDF5 finds it"},
          {"hdf5.into_existing", "off", "on: an empty file at the path is used, not refused"},
          hdf5_libver_option()};
}

Hdf5Setup::Hdf5Setup(const Settings& settings)
    : access(hdf5_access_settings(settings)),
      creation(creation_settings(settings)),
      chunks(settings),
      collective(settings.flag("hdf5.collective", true)),
      fixed_time(choice<bool>(settings, "hdf5.time", "grow", {{"grow", false}, {"fixed", true}})),
      precreate(settings.flag("hdf5.precreate", false)) {
  access.connector = connector_of(settings, false);
}

std::optional<std::string> hdf5_unmet(const Settings& settings) {
  const auto creation = creation_settings(settings);
  if (creation.deflate > 0 && !hdf5::has_deflate()) return "this HDF5 has no deflate filter";
  if (creation.zfp && !hdf5::has_zfp()) {
    return "HDF5 finds no ZFP filter; name the folder of its plugin by HDF5_PLUGIN_PATH";
  }
  const bool filtered = creation.deflate > 0 || creation.zfp;
  if (filtered && !settings.flag("hdf5.collective", true)) {
    return "HDF5 writes compressed chunks in parallel only with collective calls";
  }
  return std::nullopt;
}

std::string hdf5_version_name(H5F_libver_t bound) {
  const auto versions = format_versions();
  return std::find_if(versions.begin(), versions.end(),
                      [&](const auto& version) { return version.second == bound; })
      ->first;
}

}  // namespace slabmark
