// Objects around datasets: attributes, groups, links, and objects of any kind.
#include <string>
#include <string_view>

#include "capture/interpose/hdf5/describe.hpp"
#include "capture/interpose/hdf5/forward.hpp"
#include "capture/interpose/hdf5/selection.hpp"

namespace slabmark::capture {

namespace {

// Attributes

/// The owner of an attribute: a dataset, or a group or type by its name, or else the file.
struct Owner {
  Id dataset = no_id;
  std::string name;
};

Id describe_attribute(const char* name, hid_t type, hid_t space, const Owner& owner) {
  const auto extent = extent_of(space);
  std::uint64_t count = 1;
  for (const auto length : extent) count *= length;
  Json described = {{"kind", "attribute"},
                    {"name", name == nullptr ? "" : name},
                    {"type", type_of(type)},
                    {"count", count},
                    {has_names(type) ? "named" : "hdf5", {{"type", encoded_type(type)}}},
                    {"space", encoded_space(space)}};
  if (!owner.name.empty()) described["object"] = {{"name", owner.name}};
  return define(text_of(described));
}

Owner owner_named(const Object& object, H5I_type_t type) {
  const QuietErrors quiet;
  std::string name = name_of(object, type);
  if (name == "/") name.clear();
  return {no_id, std::move(name)};
}

/// The meaning of `place` of `mine`.
Owner owner_at(const Object& mine, const H5VL_loc_params_t& place) {
  using namespace std::literals;
  const bool is_by_name = place.type == H5VL_OBJECT_BY_NAME;  // h5py says "." of what it has open
  const bool is_itself =
      place.type == H5VL_OBJECT_BY_SELF || (is_by_name && place.loc_data.loc_by_name.name == "."sv);
  if (is_itself && place.obj_type == H5I_DATASET) return {mine.dataset, ""};
  if (is_itself && place.obj_type == H5I_FILE) return {};
  if (is_itself) return owner_named(mine, place.obj_type);
  if (!is_by_name) return {};
  const QuietErrors quiet;
  H5I_type_t type = H5I_BADID;
  void* const under = hdf5().H5VLobject_open(mine.under, &place, mine.connector, &type,
                                             hdf5().default_transfer(), nullptr);
  if (under == nullptr) return {};
  Object opened{.under = under, .connector = mine.connector, .file = mine.file};
  const auto close = type == H5I_DATASET ? &Hdf5::H5VLdataset_close
                     : type == H5I_GROUP ? &Hdf5::H5VLgroup_close
                                         : &Hdf5::H5VLdatatype_close;
  Owner owner;
  if (type == H5I_DATASET) {
    identify(opened);
    owner.dataset = opened.dataset;
  } else {
    owner = owner_named(opened, type);
  }
  (hdf5().*close)(under, mine.connector, hdf5().default_transfer(), nullptr);
  return owner;
}

void* create_attribute(void* object, const H5VL_loc_params_t* place, const char* name, hid_t type,
                       hid_t space, hid_t creation, hid_t access, hid_t list, void** request) {
  const Call call;
  const auto& mine = as_object(object);
  const Owner owner = call.is_user_call() ? owner_at(mine, *place) : Owner{};
  const auto details = call.is_user_call() ? describe_attribute(name, type, space, owner) : no_id;
  auto* made = wrapped(hdf5().H5VLattr_create(mine.under, place, mine.connector, name, type, space,
                                              creation, access, list, request),
                       mine);
  wrap_request(request, mine);
  if (!call.is_user_call()) return made;
  record({.call = define_call("H5Acreate", "define"),
          .file = mine.file,
          .dataset = owner.dataset,
          .flags = made == nullptr ? unsigned{failed} : 0,
          .details = details});
  if (made != nullptr) {
    as_object(made).dataset = owner.dataset;
    as_object(made).details = details;
  }
  return made;
}

template <auto below, class Buffer>
herr_t move_attribute(const char* name, void* object, hid_t type, Buffer* buffer, hid_t list,
                      void** request) {
  const Call call;
  const auto& mine = as_object(object);
  const auto status = (hdf5().*below)(mine.under, mine.connector, type, buffer, list, request);
  wrap_request(request, mine);
  if (call.is_user_call()) {
    record({.call = define_call(name, "other"),
            .file = mine.file,
            .dataset = mine.dataset,
            .flags = failed_if(status),
            .details = mine.details});
  }
  return status;
}

herr_t read_attribute(void* object, hid_t type, void* buffer, hid_t list, void** request) {
  return move_attribute<&Hdf5::H5VLattr_read>("H5Aread", object, type, buffer, list, request);
}

herr_t write_attribute(void* object, hid_t type, const void* buffer, hid_t list, void** request) {
  return move_attribute<&Hdf5::H5VLattr_write>("H5Awrite", object, type, buffer, list, request);
}

// Iteration: the program's operator may call HDF5 again, and these calls are the program's.

template <class Operator>
struct Programs {
  Operator call;
  void* data;
};

template <class Info>
herr_t call_back(hid_t object, const char* name, const Info* info, void* data) {
  const Callback outside;
  const auto& programs =
      *static_cast<Programs<herr_t (*)(hid_t, const char*, const Info*, void*)>*>(data);
  return programs.call(object, name, info, programs.data);
}

/// Hands `iteration` on with the operator within ours while `call` is made.
template <class Info, class Iteration, class Make>
herr_t iterate(Iteration& iteration, const Make& make) {
  Programs<herr_t (*)(hid_t, const char*, const Info*, void*)> programs{iteration.op,
                                                                        iteration.op_data};
  iteration.op = call_back<Info>;
  iteration.op_data = &programs;
  return make();
}

herr_t attribute_specific(void* object, const H5VL_loc_params_t* place,
                          H5VL_attr_specific_args_t* args, hid_t list, void** request) {
  const Call call;
  const Object mine = as_object(object);
  auto below = *args;
  const auto make = [&] {
    return hdf5().H5VLattr_specific(mine.under, place, mine.connector, &below, list, request);
  };
  const auto status = args->op_type == H5VL_ATTR_ITER && args->args.iterate.op != nullptr
                          ? iterate<H5A_info_t>(below.args.iterate, make)
                          : make();
  wrap_request(request, mine);
  if (!call.is_user_call()) return status;
  if (args->op_type == H5VL_ATTR_DELETE || args->op_type == H5VL_ATTR_DELETE_BY_IDX) {
    count_uncaptured("H5Adelete");
  } else if (args->op_type == H5VL_ATTR_RENAME) {
    count_uncaptured("H5Arename");
  }
  return status;
}

// Groups

void* create_group(void* object, const H5VL_loc_params_t* place, const char* name, hid_t links,
                   hid_t creation, hid_t access, hid_t list, void** request) {
  const Call call;
  const auto& mine = as_object(object);
  auto* made = wrapped(hdf5().H5VLgroup_create(mine.under, place, mine.connector, name, links,
                                               creation, access, list, request),
                       mine);
  wrap_request(request, mine);
  if (!call.is_user_call()) return made;
  const auto id = define_call("H5Gcreate", "define");
  if (made == nullptr) {
    record({.call = id, .file = mine.file, .flags = failed});
    return nullptr;
  }
  const auto path = name_of(as_object(made), H5I_GROUP);
  record({.call = id,
          .file = mine.file,
          .details = define(text_of({{"kind", "group"}, {"name", path}}))});
  return made;
}

herr_t group_specific(void* object, H5VL_group_specific_args_t* args, hid_t list, void** request) {
  const Call call;
  const Object mine = as_object(object);
  auto below = *args;
  if (args->op_type == H5VL_GROUP_MOUNT) {
    below.args.mount.child_file = as_object(args->args.mount.child_file).under;
  }
  const auto status = hdf5().H5VLgroup_specific(mine.under, mine.connector, &below, list, request);
  wrap_request(request, mine);
  if (call.is_user_call() && args->op_type == H5VL_GROUP_MOUNT) count_uncaptured("H5Fmount");
  return status;
}

// Links

void* under_or_null(void* object) { return object == nullptr ? nullptr : as_object(object).under; }

const Object& one_of(void* a, void* b) { return as_object(a != nullptr ? a : b); }

herr_t create_link(H5VL_link_create_args_t* args, void* object, const H5VL_loc_params_t* place,
                   hid_t links, hid_t access, hid_t list, void** request) {
  const Call call;
  auto below = *args;
  void* target = nullptr;
  if (args->op_type == H5VL_LINK_CREATE_HARD) {
    target = args->args.hard.curr_obj;
    below.args.hard.curr_obj = under_or_null(target);
  }
  const Object mine = one_of(object, target);
  const auto status = hdf5().H5VLlink_create(&below, under_or_null(object), place, mine.connector,
                                             links, access, list, request);
  wrap_request(request, mine);
  if (call.is_user_call()) count_uncaptured("H5Lcreate");
  return status;
}

template <auto below>
herr_t from_to_link(void* from, const H5VL_loc_params_t* from_place, void* to,
                    const H5VL_loc_params_t* to_place, hid_t links, hid_t access, hid_t list,
                    void** request) {
  const Call call;
  const Object mine = one_of(from, to);
  const auto status = (hdf5().*below)(under_or_null(from), from_place, under_or_null(to), to_place,
                                      mine.connector, links, access, list, request);
  wrap_request(request, mine);
  if (call.is_user_call()) {
    count_uncaptured(below == &Hdf5::H5VLlink_copy ? "H5Lcopy" : "H5Lmove");
  }
  return status;
}

herr_t link_specific(void* object, const H5VL_loc_params_t* place, H5VL_link_specific_args_t* args,
                     hid_t list, void** request) {
  const Call call;
  const Object mine = as_object(object);
  auto below = *args;
  const auto make = [&] {
    return hdf5().H5VLlink_specific(mine.under, place, mine.connector, &below, list, request);
  };
  const auto status = args->op_type == H5VL_LINK_ITER && args->args.iterate.op != nullptr
                          ? iterate<H5L_info2_t>(below.args.iterate, make)
                          : make();
  wrap_request(request, mine);
  if (call.is_user_call() && args->op_type == H5VL_LINK_DELETE) count_uncaptured("H5Ldelete");
  return status;
}

// Types

void* commit_type(void* object, const H5VL_loc_params_t* place, const char* name, hid_t type,
                  hid_t links, hid_t creation, hid_t access, hid_t list, void** request) {
  const Call call;
  if (call.is_user_call()) count_uncaptured("H5Tcommit");
  return forward_object<&Hdf5::H5VLdatatype_commit>(object, place, name, type, links, creation,
                                                    access, list, request);
}

// Objects of any kind

void* open_object(void* object, const H5VL_loc_params_t* place, H5I_type_t* type, hid_t list,
                  void** request) {
  const Call call;
  const auto& mine = as_object(object);
  auto* opened =
      wrapped(hdf5().H5VLobject_open(mine.under, place, mine.connector, type, list, request), mine);
  wrap_request(request, mine);
  if (opened != nullptr && call.is_user_call() && *type == H5I_DATASET) {
    record_opened(as_object(opened));
  }
  return opened;
}

herr_t copy_object(void* from, const H5VL_loc_params_t* from_place, const char* from_name, void* to,
                   const H5VL_loc_params_t* to_place, const char* to_name, hid_t copying,
                   hid_t links, hid_t list, void** request) {
  const Call call;
  const auto& mine = as_object(from);
  const auto status =
      hdf5().H5VLobject_copy(mine.under, from_place, from_name, as_object(to).under, to_place,
                             to_name, mine.connector, copying, links, list, request);
  wrap_request(request, mine);
  if (call.is_user_call()) count_uncaptured("H5Ocopy");
  return status;
}

herr_t object_specific(void* object, const H5VL_loc_params_t* place,
                       H5VL_object_specific_args_t* args, hid_t list, void** request) {
  const Call call;
  const Object mine = as_object(object);  // a refresh may end the object
  auto below = *args;
  const auto make = [&] {
    return hdf5().H5VLobject_specific(mine.under, place, mine.connector, &below, list, request);
  };
  const auto status = args->op_type == H5VL_OBJECT_VISIT && args->args.visit.op != nullptr
                          ? iterate<H5O_info2_t>(below.args.visit, make)
                          : make();
  wrap_request(request, mine);
  if (call.is_user_call() && args->op_type == H5VL_OBJECT_FLUSH) {
    record(
        {.call = define_call("H5Oflush", "flush"), .file = mine.file, .flags = failed_if(status)});
  }
  return status;
}

// Requests: HDF5 gives them up by each of these, where it went well.

template <auto below, class... Rest>
herr_t end_request(void* object, Rest... rest) {
  auto& mine = as_object(object);
  const auto status = (hdf5().*below)(mine.under, mine.connector, rest...);
  if (status >= 0) delete &mine;
  return status;
}

herr_t wait_for_request(void* object, std::uint64_t timeout, H5VL_request_status_t* state) {
  const Call inside;
  auto& mine = as_object(object);
  const auto status = hdf5().H5VLrequest_wait(mine.under, mine.connector, timeout, state);
  if (status >= 0 && *state != H5VL_REQUEST_STATUS_IN_PROGRESS) delete &mine;
  return status;
}

herr_t notify_request(void* object, H5VL_request_notify_t call, void* context) {
  return end_request<&Hdf5::H5VLrequest_notify>(object, call, context);
}

herr_t cancel_request(void* object, H5VL_request_status_t* state) {
  return end_request<&Hdf5::H5VLrequest_cancel>(object, state);
}

herr_t free_request(void* object) { return end_request<&Hdf5::H5VLrequest_free>(object); }

}  // namespace

const H5VL_attr_class_t attribute_callbacks = {create_attribute,
                                               forward_object<&Hdf5::H5VLattr_open>,
                                               read_attribute,
                                               write_attribute,
                                               forward<&Hdf5::H5VLattr_get>,
                                               attribute_specific,
                                               forward<&Hdf5::H5VLattr_optional>,
                                               close_through<&Hdf5::H5VLattr_close>};

const H5VL_group_class_t group_callbacks = {
    create_group,   forward_object<&Hdf5::H5VLgroup_open>, forward<&Hdf5::H5VLgroup_get>,
    group_specific, forward<&Hdf5::H5VLgroup_optional>,    close_through<&Hdf5::H5VLgroup_close>};

const H5VL_link_class_t link_callbacks = {create_link,
                                          from_to_link<&Hdf5::H5VLlink_copy>,
                                          from_to_link<&Hdf5::H5VLlink_move>,
                                          forward<&Hdf5::H5VLlink_get>,
                                          link_specific,
                                          forward<&Hdf5::H5VLlink_optional>};

const H5VL_datatype_class_t type_callbacks = {commit_type,
                                              forward_object<&Hdf5::H5VLdatatype_open>,
                                              forward<&Hdf5::H5VLdatatype_get>,
                                              forward<&Hdf5::H5VLdatatype_specific>,
                                              forward<&Hdf5::H5VLdatatype_optional>,
                                              close_through<&Hdf5::H5VLdatatype_close>};

const H5VL_object_class_t object_callbacks = {open_object, copy_object,
                                              forward<&Hdf5::H5VLobject_get>, object_specific,
                                              forward<&Hdf5::H5VLobject_optional>};

const H5VL_request_class_t request_callbacks = {wait_for_request,
                                                notify_request,
                                                cancel_request,
                                                forward<&Hdf5::H5VLrequest_specific>,
                                                forward<&Hdf5::H5VLrequest_optional>,
                                                free_request};

}  // namespace slabmark::capture
