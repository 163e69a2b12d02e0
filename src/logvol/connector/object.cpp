#include "logvol/connector/object.hpp"

#include "logvol/find_datasets.hpp"

namespace slabmark::logvol {

Location OpenLog::location() const {
  const auto& any = **objects.begin();
  return {any.under, any.type, any.connector};
}

Object::Object(void* object, hid_t below, H5I_type_t object_type, std::shared_ptr<OpenLog> open_log)
    : under(object), connector(below), type(object_type), log(std::move(open_log)) {
  H5Iinc_ref(connector);
  if (log) log->objects.insert(this);
}

Object::~Object() {
  if (log) log->objects.erase(this);
  H5Idec_ref(connector);
}

void* wrapped(void* under, const Object& parent, H5I_type_t type) {
  if (under == nullptr) return nullptr;
  return new Object(under, parent.connector, type, parent.log);
}

void report(const char* callback) {
  try {
    throw;
  } catch (const Refusal& refusal) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, refusal.major_number(),
             refusal.minor_number(), "%s", refusal.what());
  } catch (const std::exception& error) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, H5E_VOL, H5E_CANTOPERATE, "%s",
             error.what());
  }
}

herr_t close_object(void* object, herr_t (*close)(void*, hid_t, hid_t, void**), hid_t list) {
  return guarded("close", [&]() -> herr_t {
    auto& mine = as_object(object);
    if (mine.under == nullptr) return -1;
    const auto log = mine.log;
    const bool last = log && log->objects.size() == 1;
    if (last) log->file.prepare_close(log->location());
    const auto status = close(mine.under, mine.connector, list, nullptr);
    if (status >= 0) {
      delete &mine;
    } else {
      mine.under = nullptr;  // HDF5 may have freed it, and closes it again when the program ends
    }
    if (last) log->file.after_close(status >= 0);
    return status;
  });
}

void find_dataset(Object& object) {
  if (!object.log) return;
  const auto get = [&](H5VL_dataset_get_t what) {
    H5VL_dataset_get_args_t args{};
    args.op_type = what;
    hdf5::check(
        H5VLdataset_get(object.under, object.connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr),
        "H5VLdataset_get", object.log->file.path());
    return args;
  };
  const hdf5::Handle creation(get(H5VL_DATASET_GET_DCPL).args.get_dcpl.dcpl_id, H5Pclose);
  const auto number = number_of(creation.get());
  if (!number) return;
  object.dataset = object.log->file.known(*number);
  if (object.dataset) return;
  const hdf5::Handle type(get(H5VL_DATASET_GET_TYPE).args.get_type.type_id, H5Tclose);
  const hdf5::Handle space(get(H5VL_DATASET_GET_SPACE).args.get_space.space_id, H5Sclose);
  object.dataset = object.log->file.add(object.log->location(),
                                        describe(*number, type.get(), space.get(), creation.get()));
}

}  // namespace slabmark::logvol
