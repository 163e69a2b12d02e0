// HDF5 makes objects of its own in some calls (iteration, references, named types) and asks every
// connector above the native one to wrap them.
#include "capture/interpose/hdf5/object.hpp"

namespace slabmark::capture {

namespace {

struct Context {
  Object of;  ///< under: the context below
};

void* get_object(const void* object) {
  const auto& mine = *static_cast<const Object*>(object);
  return hdf5().H5VLget_object(mine.under, mine.connector);
}

herr_t get_context(const void* object, void** context) {
  const auto& mine = *static_cast<const Object*>(object);
  auto* made = new Context{mine};
  made->of.under = nullptr;
  hdf5().H5VLget_wrap_ctx(mine.under, mine.connector, &made->of.under);
  *context = made;
  return 0;
}

void* wrap_object(void* object, H5I_type_t type, void* context) {
  const auto& from = static_cast<const Context*>(context)->of;
  return wrapped(hdf5().H5VLwrap_object(object, type, from.connector, from.under), from);
}

void* unwrap_object(void* object) {
  auto& mine = as_object(object);
  auto* under = hdf5().H5VLunwrap_object(mine.under, mine.connector);
  if (under != nullptr) delete &mine;
  return under;
}

/// Most calls end here, failed ones too: another call of HDF5 would clear their error stack.
herr_t free_context(void* context) {
  auto* freed = static_cast<Context*>(context);
  if (freed->of.under != nullptr) hdf5().H5VLfree_wrap_ctx(freed->of.under, freed->of.connector);
  delete freed;
  return 0;
}

}  // namespace

const H5VL_wrap_class_t wrap_callbacks = {get_object, get_context, wrap_object, unwrap_object,
                                          free_context};

}  // namespace slabmark::capture
