#pragma once

#include <utility>

#include <hdf5.h>

#include "storage/hdf5/error.hpp"

namespace slabmark::hdf5 {

/// An HDF5 identifier that closes itself, with the close call of its kind.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  hid_t get() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Owns what `call` returned, or throws.
inline Handle own(hid_t id, Handle::Close close, const char* call, const std::string& path) {
  if (id < 0) fail(call, path);
  return {id, close};
}

}  // namespace slabmark::hdf5
