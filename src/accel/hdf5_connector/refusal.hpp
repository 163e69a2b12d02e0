#pragma once

#include <string>

#include <hdf5.h>

#include "core/base/error.hpp"

namespace slabmark::slablog {

/// A failure with HDF5's numbers for it.
class Refusal : public Error {
 public:
  Refusal(hid_t major, hid_t minor, const std::string& message)
      : Error(ExitStatus::failed, message), major_(major), minor_(minor) {}
  hid_t major_number() const { return major_; }
  hid_t minor_number() const { return minor_; }

 private:
  hid_t major_;
  hid_t minor_;
};

}  // namespace slabmark::slablog
