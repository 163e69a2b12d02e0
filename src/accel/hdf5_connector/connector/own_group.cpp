#include "accel/hdf5_connector/connector/own_group.hpp"

#include <limits>
#include <string_view>

namespace slabmark::slablog {

namespace {

const std::string own_name = log_group.substr(1);

bool is_own_group(const H5O_info2_t& info) {
  const auto tracked = tracked_file(info.fileno);
  return tracked && tracked->is_group(info.token);
}

/// True if a beginning of `name`, with the own group's name at its end, is one for `is_own`.
template <class IsOwn>
bool any_beginning(const std::string& name, const IsOwn& is_own) {
  const auto path = "/" + name + "/";
  for (auto at = path.find(log_group + "/"); at != std::string::npos;
       at = path.find(log_group + "/", at + 1)) {
    if (is_own(name.substr(0, at + log_group.size() - 1))) return true;
  }
  return false;
}

bool leads_into_own_group(const Object& object, const char* name) {
  if (name == nullptr || tracked_files().empty()) return false;
  return any_beginning(name, [&](const std::string& beginning) {
    const auto info =
        basic_info(object.under, named(object.type, beginning.c_str()), object.connector);
    return info && is_own_group(*info);
  });
}

/// The same of what HDF5 names as seen from an id.
bool leads_into_own_group(hid_t group, const char* name) {
  return any_beginning(name, [&](const std::string& beginning) {
    H5O_info2_t info;
    herr_t status = -1;
    H5E_BEGIN_TRY {
      status = H5Oget_info_by_name3(group, beginning.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT);
    }
    H5E_END_TRY
    return status >= 0 && is_own_group(info);
  });
}

/// A program's operator, and its data, behind one that leaves out what is the log's.
template <class Operator>
struct Shown {
  Operator call;
  void* data;
};

herr_t count_to_own_group(hid_t, const char* name, const H5L_info2_t*, void* position) {
  if (name == own_name) return 1;
  ++*static_cast<hsize_t*>(position);
  return 0;
}

H5VL_loc_params_t group_of(const Object& object, const H5VL_loc_by_idx_t& index) {
  H5VL_loc_params_t place{};
  place.obj_type = object.type;
  place.type = H5VL_OBJECT_BY_NAME;
  place.loc_data.loc_by_name = {index.name, index.lapl_id};
  return place;
}

/// Numbers of the links of one group in one order, with the own group and without.
class Numbering {
 public:
  Numbering(const Object& object, const H5VL_loc_params_t& group, H5_index_t index,
            H5_iter_order_t order) {
    if (!holds_own_group(object, group)) return;
    hsize_t start = 0;
    hsize_t position = 0;
    H5VL_link_specific_args_t args{};
    args.op_type = H5VL_LINK_ITER;
    args.args.iterate = {false, index, order, &start, count_to_own_group, &position};
    herr_t found = -1;
    H5E_BEGIN_TRY {  // where there is no such index, the call that asked says so
      found = H5VLlink_specific(object.under, &group, object.connector, &args,
                                H5P_DATASET_XFER_DEFAULT, nullptr);
    }
    H5E_END_TRY
    if (found > 0) own_ = position;
  }

  bool has_own() const { return own_.has_value(); }
  hsize_t below(hsize_t shown) const {
    return own_ && shown >= *own_ && shown < std::numeric_limits<hsize_t>::max() ? shown + 1
                                                                                 : shown;
  }
  /// Where an iteration begins: HDF5 refuses to begin behind the last link, but not at none.
  hsize_t start(hsize_t shown) const { return shown == 0 ? 0 : below(shown); }
  hsize_t shown(hsize_t below) const { return own_ && below > *own_ ? below - 1 : below; }

 private:
  std::optional<hsize_t> own_;
};

}  // namespace

void refuse_own_group(const Object& object, const char* name) {
  if (!leads_into_own_group(object, name)) return;
  throw Refusal(H5E_LINK, H5E_CANTOPERATE,
                "/_slablog holds the elements of this file's datasets; nothing in it can be made, "
                "moved or deleted through slablog; use another name");
}

void refuse_own_group(const Object& object, const H5VL_loc_params_t& place) {
  if (place.type == H5VL_OBJECT_BY_NAME) refuse_own_group(object, place.loc_data.loc_by_name.name);
}

H5VL_loc_params_t place_below(const Object& object, const H5VL_loc_params_t& place) {
  auto result = place;
  if (place.type != H5VL_OBJECT_BY_IDX) return result;
  auto& index = result.loc_data.loc_by_idx;
  index.n = Numbering(object, group_of(object, index), index.idx_type, index.order).below(index.n);
  return result;
}

bool holds_own_group(const Object& object, const H5VL_loc_params_t& place) {
  if (tracked_files().empty()) return false;
  const auto info = basic_info(object.under, place, object.connector);
  const auto tracked = info ? tracked_file(info->fileno) : nullptr;
  return tracked && tracked->log && tracked->is_root(info->token);
}

herr_t iterate_links(const Object& object, const H5VL_loc_params_t& place,
                     H5VL_link_specific_args_t args, hid_t list) {
  auto& iterate = args.args.iterate;
  Shown<H5L_iterate2_t> shown{iterate.op, iterate.op_data};
  const auto call = [&] {
    return H5VLlink_specific(object.under, &place, object.connector, &args, list, nullptr);
  };
  if (tracked_files().empty()) return call();
  if (iterate.recursive) {
    iterate.op_data = &shown;
    iterate.op = [](hid_t group, const char* name, const H5L_info2_t* info, void* data) -> herr_t {
      const auto& operation = *static_cast<Shown<H5L_iterate2_t>*>(data);
      return leads_into_own_group(group, name) ? 0
                                               : operation.call(group, name, info, operation.data);
    };
    return call();
  }
  const Numbering numbering(object, place, iterate.idx_type, iterate.order);
  if (!numbering.has_own()) return call();
  iterate.op_data = &shown;
  iterate.op = [](hid_t group, const char* name, const H5L_info2_t* info, void* data) -> herr_t {
    const auto& operation = *static_cast<Shown<H5L_iterate2_t>*>(data);
    return name == own_name ? 0 : operation.call(group, name, info, operation.data);
  };
  hsize_t at = iterate.idx_p == nullptr ? 0 : numbering.start(*iterate.idx_p);
  auto* const given = std::exchange(iterate.idx_p, &at);
  const auto status = call();
  if (given != nullptr) *given = numbering.shown(at);
  return status;
}

herr_t visit_objects(const Object& object, const H5VL_loc_params_t& place,
                     H5VL_object_specific_args_t args, hid_t list) {
  auto& visit = args.args.visit;
  Shown<H5O_iterate2_t> shown{visit.op, visit.op_data};
  if (!tracked_files().empty()) {
    visit.op_data = &shown;
    visit.op = [](hid_t group, const char* name, const H5O_info2_t* info, void* data) -> herr_t {
      const auto& operation = *static_cast<Shown<H5O_iterate2_t>*>(data);
      return leads_into_own_group(group, name) ? 0
                                               : operation.call(group, name, info, operation.data);
    };
  }
  return H5VLobject_specific(object.under, &place, object.connector, &args, list, nullptr);
}

herr_t iterate_group(const Object& object, H5VL_native_group_iterate_old_t args, hid_t list) {
  Shown<H5G_iterate_t> shown{args.op, args.op_data};
  const Numbering numbering(object, args.loc_params, H5_INDEX_NAME, H5_ITER_INC);
  if (numbering.has_own()) {
    args.idx = numbering.start(args.idx);
    args.op_data = &shown;
    args.op = [](hid_t group, const char* name, void* data) -> herr_t {
      const auto& operation = *static_cast<Shown<H5G_iterate_t>*>(data);
      return name == own_name ? 0 : operation.call(group, name, operation.data);
    };
  }
  H5VL_native_group_optional_args_t native;
  native.iterate_old = args;
  H5VL_optional_args_t call{H5VL_NATIVE_GROUP_ITERATE_OLD, &native};
  const auto status = H5VLgroup_optional(object.under, object.connector, &call, list, nullptr);
  *args.last_obj = numbering.shown(*args.last_obj);
  return status;
}

}  // namespace slabmark::slablog
