#include "capture/interpose/hdf5/library.hpp"

#include <cstdio>
#include <dlfcn.h>
#include <string>

#include "capture/record/recorder.hpp"

namespace slabmark::capture {

namespace {

Hdf5 functions;
const void* base = nullptr;  // of the library that they were found in

bool refuse(const char* path, const std::string& reason) {
  // In one piece, as all sentences that several ranks may say at once.
  const std::string sentence = std::string("slabcapture: the HDF5 library '") + path +
                               "' cannot be captured: " + reason +
                               "; run the program without HDF5_VOL_CONNECTOR.\n";
  std::fputs(sentence.c_str(), stderr);
  return false;
}

}  // namespace

const Hdf5& hdf5() { return functions; }

bool find_hdf5(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0) return refuse("", "it is in no file");
  if (base != nullptr) {
    if (base == info.dli_fbase) return true;
    return refuse(info.dli_fname, std::string("the program uses another one, '") + functions.path +
                                      "', which is captured already");
  }
  // A program that is linked with a static HDF5 names itself here, which dlopen would not find.
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen(nullptr, RTLD_LAZY);
  const auto find = [&](const char* name) { return dlsym(library, name); };
#define SLABMARK_FIND(name)                                                                     \
  functions.name = reinterpret_cast<decltype(&::name)>(find(#name));                            \
  if (functions.name == nullptr) {                                                              \
    return refuse(info.dli_fname, "it has no " #name                                            \
                                  " that can be seen (HDF5 1.14 or newer is needed; a program " \
                                  "with a static HDF5 is to be linked with -rdynamic)");        \
  }
  SLABMARK_VOL_FUNCTIONS(SLABMARK_FIND)
  SLABMARK_HDF5_FUNCTIONS(SLABMARK_FIND)
#undef SLABMARK_FIND
  functions.H5Pget_fapl_mpio =
      reinterpret_cast<decltype(functions.H5Pget_fapl_mpio)>(find("H5Pget_fapl_mpio"));
  functions.H5Pget_dxpl_mpio =
      reinterpret_cast<decltype(functions.H5Pget_dxpl_mpio)>(find("H5Pget_dxpl_mpio"));
  functions.transfer_list = static_cast<const hid_t*>(find("H5P_LST_DATASET_XFER_ID_g"));
  functions.creation_list = static_cast<const hid_t*>(find("H5P_LST_DATASET_CREATE_ID_g"));
  if (functions.transfer_list == nullptr || functions.creation_list == nullptr) {
    return refuse(info.dli_fname, "it has no default lists");
  }
  functions.path = info.dli_fname;
  const KeptErrors errors;
  auto& version = functions.version;
  functions.H5get_libversion(&version[0], &version[1], &version[2]);
  if (version[0] == 1 && version[1] < 14) return refuse(info.dli_fname, "it is older than 1.14");
  base = info.dli_fbase;
  hdf5_is_captured();
  return true;
}

QuietErrors::QuietErrors() {
  hdf5().H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  hdf5().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  hdf5().H5Eset_auto2(H5E_DEFAULT, print_, data_);
  hdf5().H5Eclear2(H5E_DEFAULT);
}

}  // namespace slabmark::capture
