#include "storage/hdf5/error.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark::hdf5 {

namespace {

// The innermost entries say what happened, the outer ones only who asked. Where MPI-IO failed, the
// driver puts MPI's text into an entry of its own.
herr_t note(unsigned depth, const H5E_error2_t* entry, void* data) {
  auto& reason = *static_cast<std::string*>(data);
  const std::string_view text = entry->desc == nullptr ? "" : entry->desc;
  if (text.empty()) return 0;
  if (depth == 0) {
    reason = text;
  } else if (depth == 1 && text.find("MPI") != std::string_view::npos) {
    reason += fmt::format(" ({})", text);
  }
  return 0;
}

}  // namespace

std::string failure_of(const char* call, const std::string& path) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note, &reason);
  H5Eclear2(H5E_DEFAULT);
  while (!reason.empty() && (reason.back() == '.' || reason.back() == '\n')) reason.pop_back();
  if (reason.empty()) reason = "HDF5 gives no reason";
  return fmt::format(
      "{} failed on '{}': {}; check that the file can be used and that its directory has space, "
      "quota and no file size limit (ulimit -f).",
      call, path, reason);
}

void fail(const char* call, const std::string& path) { throw IoError(failure_of(call, path)); }

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace slabmark::hdf5
