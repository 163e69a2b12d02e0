// HDF5 makes objects of its own in some calls (iteration, references, named types) and asks every
// connector above the native one to wrap them.
#include <array>
#include <cstddef>
#include <memory>

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

namespace {

struct Context {
  hid_t connector;
  void* under;
};

// HDF5 looks at what all ids stand for when it closes a file, also at one that is just being
// closed: zeros are an object of no file.
void* get_object(const void* object) {
  alignas(std::max_align_t) static std::array<std::byte, 4096> of_no_file{};
  const auto& mine = *static_cast<const Object*>(object);
  return mine.under == nullptr ? of_no_file.data() : H5VLget_object(mine.under, mine.connector);
}

herr_t get_context(const void* object, void** context) {
  const auto& mine = *static_cast<const Object*>(object);
  auto* made = new Context{mine.connector, nullptr};
  if (mine.under != nullptr) H5VLget_wrap_ctx(mine.under, mine.connector, &made->under);
  *context = made;
  return 0;
}

void* wrap_object(void* object, H5I_type_t type, void* context) {
  return guarded_object("wrap", [&]() -> void* {
    const auto& from = *static_cast<const Context*>(context);
    auto* under = H5VLwrap_object(object, type, from.connector, from.under);
    if (under == nullptr) return nullptr;
    const bool is_hdf5s_own = type == H5I_FILE && OpeningFile::count > 0;
    auto made = std::make_unique<Object>(
        under, from.connector, type, is_hdf5s_own ? nullptr : log_of(under, type, from.connector));
    made->by_hdf5 = true;
    if (type == H5I_DATASET) find_dataset(*made, false);
    return made.release();
  });
}

void* unwrap_object(void* object) {
  auto& mine = as_object(object);
  auto* under = H5VLunwrap_object(mine.under, mine.connector);
  if (under != nullptr && is_canonical(mine)) mine.log->canonical->leave(*mine.dataset);
  if (under == nullptr) return nullptr;
  const auto log = mine.log;
  delete &mine;
  if (log) end_without_objects(log);
  return under;
}

herr_t free_context(void* context) {
  auto* freed = static_cast<Context*>(context);
  // Most calls end here, failed ones too: another call of HDF5 would clear their error stack.
  if (freed->under != nullptr) H5VLfree_wrap_ctx(freed->under, freed->connector);
  delete freed;
  return 0;
}

}  // namespace

const H5VL_wrap_class_t wrap_callbacks = {get_object, get_context, wrap_object, unwrap_object,
                                          free_context};

}  // namespace slabmark::slablog
