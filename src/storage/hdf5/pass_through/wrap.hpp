#pragma once

#include <array>
#include <cstddef>

#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::pass_through {

/// HDF5 makes objects of its own in some calls (iteration, references, named types) and asks every
/// connector above the native one to wrap them.
template <class Layer>
struct Wrapping {
  using Object = typename Layer::Object;

  struct Context {
    typename Layer::Origin of;
    void* under;  ///< context of the connector below
  };

  // HDF5 looks at what all ids stand for when it closes a file, also at one that is just being
  // closed: zeros are an object of no file.
  static void* get_object(const void* object) {
    alignas(std::max_align_t) static std::array<std::byte, 4096> of_no_file{};
    const auto& mine = *static_cast<const Object*>(object);
    return mine.under == nullptr ? of_no_file.data()
                                 : Layer::functions().H5VLget_object(mine.under, mine.connector);
  }

  static herr_t get_context(const void* object, void** context) {
    const auto mine = Layer::origin(const_cast<void*>(object));
    auto* made = new Context{mine, nullptr};
    if (mine.under != nullptr) {
      Layer::functions().H5VLget_wrap_ctx(mine.under, mine.connector, &made->under);
    }
    *context = made;
    return 0;
  }

  static void* wrap_object(void* object, H5I_type_t type, void* context) {
    const auto& from = *static_cast<const Context*>(context);
    auto* under = Layer::functions().H5VLwrap_object(object, type, from.of.connector, from.under);
    return under == nullptr ? nullptr : Layer::wrapped_by_hdf5(under, from.of, type);
  }

  static void* unwrap_object(void* object) {
    auto& mine = *static_cast<Object*>(object);
    auto* under = Layer::functions().H5VLunwrap_object(mine.under, mine.connector);
    if (under != nullptr) Layer::end_unwrapped(mine);
    return under;
  }

  // Most calls end here, failed ones too: another call of HDF5 would clear their error stack.
  static herr_t free_context(void* context) {
    auto* freed = static_cast<Context*>(context);
    if (freed->under != nullptr) {
      Layer::functions().H5VLfree_wrap_ctx(freed->under, freed->of.connector);
    }
    delete freed;
    return 0;
  }

  static constexpr H5VL_wrap_class_t callbacks = {get_object, get_context, wrap_object,
                                                  unwrap_object, free_context};
};

}  // namespace slabmark::pass_through
