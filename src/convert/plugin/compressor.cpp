/// libslabmark_compress.so: converts the files of programs that run with the drop-in for PnetCDF.
#include "accel/pnetcdf_dropin/compressor/compressor.hpp"

#include <H5VLconnector_passthru.h>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include "convert/classic_source.hpp"
#include "convert/convert.hpp"
#include "convert/layout.hpp"
#include "convert/settings.hpp"
#include "convert/source.hpp"
#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::convert {

namespace {

using Result = dropin::Compressor::Result;
using Message = dropin::Compressor::Message;

// All ranks of a node may convert at once.
constexpr std::uint64_t memory_of_a_rank = 64u << 20;

void keep(const std::string& text, Message& message) {
  const std::size_t length = text.copy(message.text.data(), message.text.size() - 1);
  message.text[length] = '\0';
}

template <class Step>
Result result_of(const Step& step, Message& message) noexcept {
  try {
    step();
    return Result::done;
  } catch (const InputError& error) {
    keep(error.what(), message);
    return Result::refused;
  } catch (const std::exception& error) {
    keep(error.what(), message);
    return Result::failed;
  }
}

/// HDF5 without the connector that the program may have in its environment. What of HDF5 is the
/// program's own is as it was before when this object ends.
class Hdf5InUse {
 public:
  Hdf5InUse() {
    start();
    if (H5Eget_auto2(H5E_DEFAULT, &print_, &data_) < 0) print_ = nullptr;
    require_no_connector();
  }
  ~Hdf5InUse() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Hdf5InUse(const Hdf5InUse&) = delete;
  Hdf5InUse& operator=(const Hdf5InUse&) = delete;

 private:
  // HDF5 itself would end the process.
  static void require_version() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release == H5_VERS_RELEASE) return;
    throw InputError(fmt::format(
        "the program has HDF5 {}.{}.{} loaded, and Slabmark needs its own, {}.{}.{}; build "
        "Slabmark with the program's HDF5",
        major, minor, release, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE));
  }

  // The first call of HDF5 loads the connector, which a program with this HDF5 needs.
  static void start() {
    constexpr const char* connector = "HDF5_VOL_CONNECTOR";
    const char* const found = is_programs() ? nullptr : std::getenv(connector);
    const std::string value = found == nullptr ? "" : found;
    if (found != nullptr) unsetenv(connector);
    Attempt attempt;
    attempt.run([] {
      require_version();
      hdf5::start();
    });
    if (found != nullptr) setenv(connector, value.c_str(), 1);
    if (attempt.failure()) std::rethrow_exception(attempt.failure());
  }

  // The library looks for functions in the program before it does so in its own HDF5.
  static bool is_programs() {
    void* const program = dlopen(nullptr, RTLD_LAZY);
    return program != nullptr && dlsym(program, "H5open") != nullptr;
  }

  static void require_no_connector() {
    const hdf5::Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    hid_t connector = H5I_INVALID_HID;
    int difference = -1;
    H5Pget_vol_id(list.get(), &connector);
    H5VLcmp_connector_cls(&difference, connector, H5VL_NATIVE);
    H5VLclose(connector);
    if (difference == 0) return;
    throw InputError("the HDF5 of the program goes through a connector; unset HDF5_VOL_CONNECTOR");
  }

  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

Settings settings_of(const dropin::Compression& compression) {
  VariableFilters filters = parse_compression(compression.filter.data(), "the compression");
  filters.shuffle = compression.shuffle != 0 && filters.compression != convert::Compression::none;
  Settings settings;
  settings.general.filters = filters;
  return settings;
}

NetcdfKind kind_of(const std::string& classic_format) {
  if (classic_format == "cdf1") return NetcdfKind::cdf1;
  return classic_format == "cdf2" ? NetcdfKind::cdf2 : NetcdfKind::cdf5;
}

/// A write beyond RLIMIT_FSIZE is an error here, and no signal that ends the program: a file that
/// does not shrink may be larger than the classic one.
class NoSignalOfSize {
 public:
  NoSignalOfSize() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
  ~NoSignalOfSize() {
    if (before_ != SIG_ERR) std::signal(SIGXFSZ, before_);
  }
  NoSignalOfSize(const NoSignalOfSize&) = delete;
  NoSignalOfSize& operator=(const NoSignalOfSize&) = delete;

 private:
  void (*before_)(int);
};

void convert_to(const Comm& comm, const char* from, const char* to, NetcdfKind kind,
                const Settings& settings) {
  const NoSignalOfSize now;
  ConvertOptions options;
  options.inputs = {from};
  options.output = to;
  options.kind = kind;
  options.settings = settings;
  options.overwrite = options.replaces_input = true;
  options.memory = memory_of_a_rank;
  // The program's file may be on the disk already, and a crash of the machine must not lose it.
  options.sync = true;
  // A rank that fails alone must not leave the others in a collective call.
  agreed(comm, [&] { convert(comm, options, [](std::uint64_t, std::uint64_t) {}); });
}

Result check(const dropin::Compression& compression, Message& message) {
  return result_of(
      [&] {
        const Hdf5InUse now;
        FileContents contents;
        contents.variables = {{.name = "any"}};
        require_storage(settings_of(compression), contents);
      },
      message);
}

Result compress(MPI_Comm comm, const char* path, const dropin::Compression& compression,
                Message& message) {
  return result_of(
      [&] {
        const Comm ranks(comm);
        std::optional<Hdf5InUse> now;
        agreed(ranks, [&] {
          now.emplace();
          if (ranks.is_root()) extend_to_elements(path);
        });
        convert_to(ranks, path, path, NetcdfKind::netcdf4, settings_of(compression));
      },
      message);
}

Result expand(MPI_Comm comm, const char* path, const char* classic, Message& message) {
  return result_of(
      [&] {
        const Comm ranks(comm);
        std::optional<Hdf5InUse> now;
        agreed(ranks, [&] { now.emplace(); });
        const std::string format = open_source(ranks, path)->contents().classic_format;
        convert_to(ranks, path, classic, kind_of(format), {});
      },
      message);
}

}  // namespace

}  // namespace slabmark::convert

#pragma GCC visibility push(default)
extern "C" {

const slabmark::dropin::Compressor* slabmark_compressor() {
  static const std::string version(slabmark::version());
  static const slabmark::dropin::Compressor compressor{version.c_str(), slabmark::convert::check,
                                                       slabmark::convert::compress,
                                                       slabmark::convert::expand};
  return &compressor;
}

/// For those who ask before a program starts: why files cannot be compressed like this, or null.
const char* slabmark_compress_refusal(const char* filter, int shuffle) {
  static slabmark::dropin::Compressor::Message message;
  slabmark::dropin::Compression compression;
  compression.shuffle = shuffle != 0;
  const std::string text = filter;
  if (text.size() >= compression.filter.size()) return "the compression has too long a name";
  text.copy(compression.filter.data(), text.size());
  const auto result = slabmark::convert::check(compression, message);
  return result == slabmark::dropin::Compressor::Result::done ? nullptr : message.text.data();
}

}  // extern "C"
#pragma GCC visibility pop
