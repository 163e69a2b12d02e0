#include "bench/checkpoint/fill_function.hpp"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <system_error>

#include <fmt/format.h>

#include "bench/checkpoint/guarded_call.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

std::shared_ptr<void> open_library(const std::string& path) {
  // dlopen() would wait for who writes into a pipe.
  std::error_code error;
  if (std::filesystem::is_other(path, error)) {
    throw InputError(fmt::format(
        "\"{}\" of use_function_lib is no regular file; give the path of a shared library.", path));
  }
  void* library = nullptr;
  // All functions are bound now, because a missing one would end the process in the first call.
  if (const int raised =
          guarded_call([&] { library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); })) {
    throw InputError(
        fmt::format("Loading the library \"{}\" of use_function_lib raises \"{}\"; build it anew.",
                    path, strsignal(raised)));
  }
  if (library == nullptr) return nullptr;
  return {library, [](void* opened) { dlclose(opened); }};
}

std::string last_fault() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

std::shared_ptr<void> find_library(const std::string& name) {
  if (name.empty()) {
    throw InputError(
        "use_function_name is given, but no use_function_lib; name the library of the function.");
  }
  if (auto library = open_library(name)) return library;
  const std::string fault = last_fault();
  if (name.find('/') == std::string::npos) {
    std::error_code error;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& place : {folder / name, folder / "../lib" / name}) {
      if (!std::filesystem::exists(place, error)) continue;
      if (auto library = open_library(place.string())) return library;
    }
  }
  throw InputError(fmt::format(
      "The library \"{}\" of use_function_lib cannot be loaded ({}); give its path, or put its "
      "folder into LD_LIBRARY_PATH.",
      name, fault));
}

}  // namespace

FillFunction::FillFunction(const Request& request, const CheckpointGrid& grid)
    : name_(request.name),
      file_(request.library),
      grid_(grid),
      library_(find_library(request.library)) {
  for (const std::string& word : request.arguments) {
    words_.emplace_back(word.c_str(), word.c_str() + word.size() + 1);
  }
  for (auto& word : words_) arguments_.push_back(word.data());
  arguments_.push_back(nullptr);

  element_ = reinterpret_cast<Element>(find(name_));
  if (element_ == nullptr) {
    throw InputError(fmt::format(
        "The library \"{}\" has no function \"{}\"; give another use_function_name, and export it "
        "with C linkage.",
        request.library, name_));
  }
  if (request.entry == Entry::best) block_ = reinterpret_cast<Block>(find(name_ + "_block"));
  prepare(grid, request.library);
}

void* FillFunction::find(const std::string& symbol) const {
  void* const found = dlsym(library_.get(), symbol.c_str());
  if (found == nullptr) return nullptr;
  // dlsym() also finds data, and what the library's own libraries have, such as all of libc.
  Dl_info place{};
  const ElfW(Sym)* entry = nullptr;
  const link_map* library = nullptr;
  if (dladdr1(found, &place, const_cast<void**>(reinterpret_cast<const void**>(&entry)),
              RTLD_DL_SYMENT) == 0 ||
      entry == nullptr || dlinfo(library_.get(), RTLD_DI_LINKMAP, &library) != 0) {
    return found;
  }
  const int type = ELF64_ST_TYPE(entry->st_info);  // as ELF32_ST_TYPE
  if (type != STT_FUNC && type != STT_GNU_IFUNC) {
    throw InputError(fmt::format("\"{}\" of \"{}\" is no function; give another use_function_name.",
                                 symbol, place.dli_fname));
  }
  if (std::strcmp(place.dli_fname, library->l_name) != 0) {
    throw InputError(fmt::format(
        "\"{}\" is a function of \"{}\", not of \"{}\" itself; give another use_function_name, or "
        "that library as use_function_lib.",
        symbol, place.dli_fname, library->l_name));
  }
  return found;
}

// Work that the signal interrupted is lost, but then the run ends.
void FillFunction::guarded(const std::string& function, const std::function<void()>& call) const {
  const int raised = guarded_call(call);
  if (raised == 0) return;
  throw InputError(
      fmt::format("Function \"{}\" of \"{}\" raises \"{}\"; fix it, or give the name of a function "
                  "of the type in fill_function.h.",
                  function, file_, strsignal(raised)));
}

void FillFunction::prepare(const CheckpointGrid& grid, const std::string& library) const {
  const auto asked = reinterpret_cast<Prepare>(find(name_ + "_prepare"));
  if (asked == nullptr) return;
  std::array<char, 1024> message{};
  int status = 0;
  guarded(name_ + "_prepare", [&] {
    status = asked(grid.processor.data(), grid.domain.data(), argc(), argv(), message.data(),
                   message.size() - 1);
  });
  if (status == 0) return;
  throw InputError(fmt::format(
      "Function \"{}\" of \"{}\" refuses: {}; fix use_function_argc and use_function_argv.", name_,
      library, message[0] == '\0' ? "it gives no reason" : message.data()));
}

void FillFunction::fill(std::uint64_t block, const Triple& start, const Triple& count,
                        float* values) const {
  const Triple at = grid_.block_at(block);
  const int rank = static_cast<int>(block);
  if (block_ != nullptr) {
    int status = 0;
    guarded(name_ + "_block", [&] {
      status = block_(rank, grid_.processor.data(), grid_.domain.data(), at.data(), start.data(),
                      count.data(), argc(), argv(), values);
    });
    if (status == 0) return;
    throw IoError(fmt::format("Function \"{}_block\" failed on block {} with status {}.", name_,
                              block, status));
  }
  guarded(name_, [&] {
    for (std::uint64_t x = 0; x < count[0]; ++x) {
      for (std::uint64_t y = 0; y < count[1]; ++y) {
        for (std::uint64_t z = 0; z < count[2]; ++z) {
          // Copies, because nothing keeps the function from writing to what it is given.
          Triple processor = grid_.processor;
          Triple domain = grid_.domain;
          Triple number = at;
          Triple position = {start[0] + x, start[1] + y, start[2] + z};
          *values++ = element_(rank, processor.data(), domain.data(), number.data(),
                               position.data(), argc(), argv());
        }
      }
    }
  });
}

}  // namespace slabmark
