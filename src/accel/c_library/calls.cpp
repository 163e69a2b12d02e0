// The functions of the C headers: handles, and exceptions as codes.

#include "accel/c_library/calls.hpp"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "accel/c_library/adopted.hpp"
#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/decomposition.hpp"
#include "accel/c_library/element_type.hpp"
#include "accel/c_library/failure.hpp"
#include "accel/c_library/file_data.hpp"
#include "accel/c_library/open_file.hpp"
#include "accel/c_library/raw_format.hpp"
#include "accel/c_library/system.hpp"
#include "collective/file_image.hpp"
#include "collective/settings.hpp"
#include "core/parallel/end_of_mpi.hpp"

namespace slabmark::rearrange {
namespace {

thread_local std::string last_message;

int fail(int code, std::string message) {
  last_message = std::move(message);
  return code;
}

/// Returns the code of what `call` throws.
template <class Call>
int guarded(const Call& call) noexcept {
  try {
    if (mpi_has_ended()) {
      throw Failure(SLABMARK_EHANDLE, "MPI has been finalized, and all systems ended with it.");
    }
    call();
    return SLABMARK_OK;
  } catch (const std::exception&) {
    const Failure failure = failure_of(std::current_exception(), SLABMARK_EARGUMENT);
    return fail(failure.code(), failure.what());
  }
}

struct DecompositionOf {
  std::shared_ptr<System> system;
  std::shared_ptr<Decomposition> decomposition;
};
/// What a file of the system held when it was defined.
struct DefinitionOf {
  std::shared_ptr<System> system;
  std::shared_ptr<const collective::FileImage> image;  ///< on rank 0
};
using Handle =
    std::variant<std::shared_ptr<System>, DecompositionOf, DefinitionOf, std::shared_ptr<OpenFile>>;

/// Never destroyed: after main() there may be no MPI to give anything back to.
std::unordered_map<int, Handle>& handles() {
  static auto& all = *new std::unordered_map<int, Handle>;
  return all;
}

// Never used again, so that a closed one is known for what it is.
int new_handle(Handle object) {
  static int last = 0;
  handles().emplace(++last, std::move(object));
  return last;
}

template <class Object>
Object& object(int handle, const char* kind) {
  const auto found = handles().find(handle);
  Object* const object = found == handles().end() ? nullptr : std::get_if<Object>(&found->second);
  if (!object) {
    throw Failure(SLABMARK_EHANDLE,
                  fmt::format("{} is no {}, or one that was closed or freed.", handle, kind));
  }
  return *object;
}

std::shared_ptr<System> system_of(int handle) {
  return object<std::shared_ptr<System>>(handle, "system");
}
OpenFile& file_of(int handle) { return *object<std::shared_ptr<OpenFile>>(handle, "file"); }

template <class Pointer>
void refuse_null(Pointer pointer, const char* what) {
  if (!pointer) throw Failure(SLABMARK_EARGUMENT, fmt::format("{} is a null pointer.", what));
}

struct BelongsTo {
  const System* system;
  bool operator()(const std::shared_ptr<System>& its) const { return its.get() == system; }
  bool operator()(const DecompositionOf& its) const { return its.system.get() == system; }
  bool operator()(const DefinitionOf& its) const { return its.system.get() == system; }
  bool operator()(const std::shared_ptr<OpenFile>& its) const { return &its->system() == system; }
};

/// Collective: the end of a system, and of all that belongs to it.
void end(const System& system) {
  system.command({to_word(Command::end)});
  std::erase_if(handles(), [belongs = BelongsTo{&system}](const auto& entry) {
    return std::visit(belongs, entry.second);
  });
}

/// A program that ends MPI before its systems must leave no I/O ranks behind, and no threads that
/// still call MPI.
void end_what_works_for_systems() {
  std::map<int, std::shared_ptr<System>> left;  // in the same order on all ranks
  for (const auto& [number, handle] : handles()) {
    const auto* const system = std::get_if<std::shared_ptr<System>>(&handle);
    if (system) left.emplace(number, *system);
  }
  for (const auto& [number, system] : left) {
    if (system->io_ranks()) {
      end(*system);
    } else {
      system->background().end();
    }
  }
}

/// A system of the ranks of `comm`, where it is one that can have such.
std::shared_ptr<System> new_system(MPI_Comm comm, int io_ranks) {
  int initialized = 0, between_groups = 0;
  MPI_Initialized(&initialized);
  if (!initialized || comm == MPI_COMM_NULL ||
      MPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS || between_groups) {
    throw Failure(SLABMARK_EARGUMENT,
                  "A system needs MPI, initialized, and a communicator of one group.");
  }
  auto made = std::make_shared<System>(comm, io_ranks);
  static bool is_registered = false;
  if (!std::exchange(is_registered, true)) at_end_of_mpi(end_what_works_for_systems);
  return made;
}

/// A communicator of the program's own, which treats errors as `like` does.
MPI_Comm comm_for_program(const Comm& comm, MPI_Comm like) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  check_mpi(MPI_Comm_dup(comm.get(), &own), "MPI_Comm_dup");
  MPI_Comm_get_errhandler(like, &handler);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Errhandler_free(&handler);
  return own;
}

std::vector<Decomposition::BufferRun> runs_of(const Named& named) {
  if (named.count < 0 ||
      (named.count > 0 && !(named.starts && (named.lengths || !named.are_runs)))) {
    throw Failure(SLABMARK_EARGUMENT, "A decomposition has no negative number of elements.");
  }
  if (named.are_runs && named.count_of_lengths != named.count) {
    throw Failure(SLABMARK_ELENGTH, fmt::format("There are {} runs, and lengths of {}.",
                                                named.count, named.count_of_lengths));
  }
  constexpr std::int64_t outside = -2;
  std::vector<Decomposition::BufferRun> runs;
  if (static_cast<std::uint64_t>(named.count) > runs.max_size()) {
    throw Failure(SLABMARK_EARGUMENT,
                  fmt::format("A decomposition cannot name {} elements or runs: no memory holds so "
                              "many; check the count.",
                              named.count));
  }
  runs.reserve(static_cast<std::size_t>(named.count));
  for (std::int64_t i = 0; i < named.count; ++i) {
    const std::int64_t start = named.starts[i];
    const std::int64_t from_0 = start < 0 && named.first > 0 ? outside : start - named.first;
    runs.push_back({from_0, named.are_runs ? named.lengths[i] : 1});
  }
  return runs;
}

void check_type(const Decomposition& decomposition, slabmark_type type) {
  const slabmark_type own = decomposition.type();
  const auto is_real = [](slabmark_type one) { return one >= SLABMARK_FLOAT32; };
  if (size_of(type) == size_of(own) && is_real(type) == is_real(own)) return;
  throw Failure(SLABMARK_ETYPE, fmt::format("The buffer is of {}, the decomposition of {}.",
                                            name_of(type), name_of(own)));
}

}  // namespace

int init_decomp(int system, slabmark_type type, int dimensions, const std::int64_t* extents,
                const Named& named, int* decomp) {
  return guarded([&] {
    const auto of = system_of(system);
    std::vector<Decomposition::BufferRun> runs;
    agreed(of->comm(), SLABMARK_EARGUMENT, [&] {
      refuse_null(decomp, "The place for the decomposition");
      constexpr int most_dimensions = 1024;  // of netCDF; HDF5 has fewer
      if (dimensions < 0 || dimensions > most_dimensions) {
        throw Failure(SLABMARK_EARGUMENT, fmt::format("An array has 0 to {} extents, and not {}.",
                                                      most_dimensions, dimensions));
      }
      if (dimensions > 0) refuse_null(extents, "The list of extents");
      runs = runs_of(named);
    });
    auto made = std::make_shared<Decomposition>(
        of->comm(), of->next_number(), type,
        std::span(extents, static_cast<std::size_t>(dimensions)), runs);
    of->has_buffers_of(made->most_bytes());
    *decomp = new_handle(DecompositionOf{of, std::move(made)});
  });
}

int refuse_scattered(int file) {
  return guarded([&] {
    OpenFile& its = file_of(file);
    const Failure failure(SLABMARK_EARGUMENT,
                          "Data that are moved without a copy must be contiguous in memory; pass a "
                          "whole array, or a contiguous section.");
    its.refuse(std::make_exception_ptr(failure), false);
    throw failure;
  });
}

int move(Verb verb, int file, int variable, const Buffer& buffer) {
  return guarded([&] {
    OpenFile& its = file_of(file);
    const bool copies = verb == Verb::write;
    const auto failure = caught([&] {
      const DecompositionOf& named = object<DecompositionOf>(buffer.decomp, "decomposition");
      if (named.system.get() != &its.system()) {
        throw Failure(SLABMARK_EARGUMENT, "The decomposition is of another system than the file.");
      }
      if (buffer.type) check_type(*named.decomposition, *buffer.type);
      its.post({copies || verb == Verb::iput, copies, variable, named.decomposition, buffer.count,
                static_cast<std::byte*>(buffer.data), buffer.fill});
    });
    if (failure) its.refuse(failure, copies);
    if (copies) its.bound_copies();
    if (verb == Verb::read) its.flush();  // told to all ranks there
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace slabmark::rearrange

using namespace slabmark::rearrange;

const char* slabmark_message() { return last_message.c_str(); }

const char* slabmark_strerror(int code) {
  switch (code) {
    case SLABMARK_OK:
      return "no error";
    case SLABMARK_EHANDLE:
      return "no such system, decomposition or file, or no longer";
    case SLABMARK_EARGUMENT:
      return "an argument that the call does not take";
    case SLABMARK_EDECOMP:
      return "a decomposition names an element outside the array, or one twice";
    case SLABMARK_EOVERLAP:
      return "two ranks write the same element";
    case SLABMARK_ELENGTH:
      return "a length other than the decomposition's";
    case SLABMARK_ETYPE:
      return "a type other than the decomposition's";
    case SLABMARK_EVARIABLE:
      return "no such variable";
    case SLABMARK_EFRAME:
      return "no such record";
    case SLABMARK_EREADONLY:
      return "the file is open for reading";
    case SLABMARK_ERANKS:
      return "ranks made different calls";
    case SLABMARK_ENOMEM:
      return "memory is exhausted";
    case SLABMARK_EIO:
      return "the file system or a file library failed";
    case SLABMARK_EFORMAT:
      return "a file or variable that cannot be rearranged";
    case SLABMARK_ETHREADS:
      return "MPI does not allow calls from several threads";
    default:
      return "no code of this library";
  }
}

int slabmark_init(MPI_Comm comm, int* system) {
  return guarded([&] {
    refuse_null(system, "The place for the system");
    *system = new_handle(new_system(comm, 0));
  });
}

int slabmark_init_io(MPI_Comm comm, int io_ranks, MPI_Comm* program_comm, int* system) {
  return guarded([&] {
    refuse_null(program_comm, "The place for the communicator");
    refuse_null(system, "The place for the system");
    *program_comm = MPI_COMM_NULL;
    *system = 0;
    const auto made = new_system(comm, io_ranks);
    if (made->is_io_rank()) {
      FileData::serve(*made);
    } else {
      *program_comm = comm_for_program(made->comm(), comm);
      *system = new_handle(made);
    }
  });
}

int slabmark_set_option(int system, const char* name, const char* value) {
  return guarded([&] {
    refuse_null(name, "The name of the option");
    refuse_null(value, "The value of the option");
    system_of(system)->set_option(name, value);
  });
}

int slabmark_finalize(int system) {
  return guarded([&] {
    const auto ending = system_of(system);
    agreed(ending->comm(), SLABMARK_EARGUMENT, [&] {
      for (const auto& [number, handle] : handles()) {
        if (std::holds_alternative<std::shared_ptr<OpenFile>>(handle) &&
            std::visit(BelongsTo{ending.get()}, handle)) {
          throw Failure(SLABMARK_EARGUMENT,
                        fmt::format("File {} is still open; close it first.", number));
        }
      }
    });
    end(*ending);
  });
}

int slabmark_init_decomp(int system, slabmark_type type, int ndims, const int64_t* extents,
                         int64_t count, const int64_t* offsets, int* decomp) {
  return init_decomp(system, type, ndims, extents, {count, offsets, false, 0, nullptr, 0}, decomp);
}

int slabmark_init_decomp_runs(int system, slabmark_type type, int ndims, const int64_t* extents,
                              int64_t runs, const int64_t* starts, const int64_t* lengths,
                              int* decomp) {
  return init_decomp(system, type, ndims, extents, {runs, starts, true, runs, lengths, 0}, decomp);
}

int slabmark_free_decomp(int decomp) {
  return guarded([&] {
    object<DecompositionOf>(decomp, "decomposition");
    handles().erase(decomp);
  });
}

int slabmark_keep_definition(int system, const char* path, int* definition) {
  return guarded([&] {
    DefinitionOf kept{system_of(system), nullptr};
    agreed(kept.system->comm(), SLABMARK_EARGUMENT, [&] {
      refuse_null(path, "The path");
      refuse_null(definition, "The place for the definition");
      if (!kept.system->comm().is_root()) return;
      kept.image = std::make_shared<const slabmark::collective::FileImage>(path);
    });
    *definition = new_handle(std::move(kept));
  });
}

int slabmark_create_defined(int definition, const char* path, MPI_Info info) {
  return guarded([&] {
    const DefinitionOf kept = object<DefinitionOf>(definition, "definition");
    agreed(kept.system->comm(), SLABMARK_EARGUMENT, [&] {
      refuse_null(path, "The path");
      const auto hints = slabmark::collective::usable_hints(info);
      if (kept.image) kept.image->create(path, hints);
    });
  });
}

int slabmark_free_definition(int definition) {
  return guarded([&] {
    object<DefinitionOf>(definition, "definition");
    handles().erase(definition);
  });
}

int slabmark_open_format(int system, const char* path, int mode, MPI_Info info,
                         const slabmark_format* format, void* context, int* file) {
  const int code = guarded([&] {
    const auto of = system_of(system);
    slabmark::mpiio::Hints hints;
    agreed(of->comm(), SLABMARK_EARGUMENT, [&] {
      refuse_null(path, "The path");
      refuse_null(format, "The format");
      refuse_null(file, "The place for the file");
      hints = slabmark::collective::usable_hints(info);
    });
    *file = new_handle(std::make_shared<OpenFile>(of, path, mode, hints, *format, context));
  });
  if (code != SLABMARK_OK && format && format->close) {
    const std::string message = last_message;
    format->close(context);
    last_message = message;
  }
  return code;
}

int slabmark_open_raw(int system, const char* path, int mode, MPI_Info info, int* file) {
  const slabmark_format format = raw_format();
  return slabmark_open_format(system, path, mode, info, &format, new_raw_context(), file);
}

int slabmark_def_raw(int file, slabmark_type type, int64_t elements, int64_t offset,
                     int64_t record_bytes, int* variable) {
  int code = SLABMARK_OK;
  const int found = guarded([&] {
    OpenFile& raw = file_of(file);
    refuse_null(variable, "The place for the variable");
    if (!raw.is_raw()) throw Failure(SLABMARK_EFORMAT, "The file has a header that says it all.");
    code = define_raw(raw.context(), {type, elements, offset, record_bytes > 0}, record_bytes,
                      variable);
  });
  return found != SLABMARK_OK ? found : code;
}

int slabmark_inq_varid(int file, const char* name, int* variable) {
  return guarded([&] {
    OpenFile& its = file_of(file);
    refuse_null(name, "The name of the variable");
    refuse_null(variable, "The place for the variable");
    *variable = its.inq_varid(name);
  });
}

int slabmark_set_frame(int file, int variable, int64_t frame) {
  return guarded([&] { file_of(file).set_frame(variable, frame); });
}

int slabmark_write_darray(int file, int variable, int decomp, int64_t count, const void* data,
                          const void* fill) {
  return move(Verb::write, file, variable, {decomp, count, const_cast<void*>(data), fill});
}

int slabmark_iput_darray(int file, int variable, int decomp, int64_t count, const void* data,
                         const void* fill) {
  return move(Verb::iput, file, variable, {decomp, count, const_cast<void*>(data), fill});
}

int slabmark_iget_darray(int file, int variable, int decomp, int64_t count, void* data) {
  return move(Verb::iget, file, variable, {decomp, count, data});
}

int slabmark_read_darray(int file, int variable, int decomp, int64_t count, void* data) {
  return move(Verb::read, file, variable, {decomp, count, data});
}

int slabmark_flush(int file) {
  return guarded([&] { file_of(file).flush(); });
}

int slabmark_sync(int file) {
  return guarded([&] { file_of(file).sync(); });
}

int slabmark_close(int file) {
  return guarded([&] {
    const auto closing = object<std::shared_ptr<OpenFile>>(file, "file");
    handles().erase(file);
    closing->close();
  });
}

int slabmark_inq_comm(int system, MPI_Comm* comm) {
  return guarded([&] {
    refuse_null(comm, "The place for the communicator");
    *comm = system_of(system)->comm().get();
  });
}

int slabmark_check_adopted(int system, const char* path) {
  return guarded([&] { require_same_place(system_of(system)->comm(), path); });
}

int slabmark_fail(int code, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fail(code, text);
}

int slabmark_agree(int system, int code) {
  return guarded([&] {
    agreed(system_of(system)->comm(), SLABMARK_EARGUMENT, [&] {
      if (code != SLABMARK_OK) throw Failure(code, last_message);
    });
  });
}
