#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <sys/types.h>
#include <sys/uio.h>

#include "capture/record/recorder.hpp"

namespace slabmark::capture::posix {

/// on: capture the files that may be meant; off: none; auto: as on, but marked `unasked`, so that
/// they are left out where calls of a library above POSIX (HDF5, PnetCDF, MPI-IO) say more.
constexpr char switch_variable[] = "SLABMARK_CAPTURE_POSIX";
/// Patterns of the shell, with colons between them, of the files that are captured: instead of the
/// built-in choice.
constexpr char files_variable[] = "SLABMARK_CAPTURE_FILES";

/// Higher numbers are not captured.
constexpr int most_descriptors = 65536;

/// True if calls on a descriptor are captured. Cheap.
bool is_tracked(int descriptor) noexcept;
bool is_tracked(std::FILE* stream) noexcept;

/// A call that opened `descriptor`, or failed to: tracks it, if the program itself made it, and it
/// is one of the files that are meant. `how`: "fopen", say, with its mode; empty for flags of open.
void opened(const Call& call, const char* name, int descriptor, const char* path, int flags,
            const std::string& how = "");
/// `copy` is `descriptor` under another number.
void duplicated(int descriptor, int copy);
/// The flags of the opening that `descriptor` belongs to are `flags` now, under all its numbers.
void flags_changed(int descriptor, int flags);
/// True if this is not the process that tracks: the child of a vfork() has its memory, and closes
/// and duplicates descriptors of its own.
bool is_other_process() noexcept;
/// True if all that is written goes to the end of the file, whatever the call says.
bool is_appended_to(int descriptor) noexcept;
/// Before the descriptor is closed.
void closing(const Call& call, const char* name, int descriptor);

/// Bytes that were moved at `offset`; negative: the call failed. `pieces`: in memory, where they
/// are several.
void moved(const Call& call, const char* name, unsigned direction, int descriptor, off_t offset,
           ssize_t bytes, std::span<const iovec> pieces = {});
/// Where bytes that went by the descriptor's own position ended.
void ended_at(int descriptor, off_t position) noexcept;
/// Any other call.
void called(const Call& call, const char* name, const char* effect, int descriptor, bool well,
            std::initializer_list<std::int64_t> arguments = {});

/// Where `stream` is to be, if nothing but what is captured has moved it: counts the others.
void expect(std::FILE* stream, off_t position);
void check(std::FILE* stream, off_t position);
void forget(std::FILE* stream);
/// Of all streams that are left when the process ends; `position` is ftello().
void check_all(off_t (*position)(std::FILE*));

}  // namespace slabmark::capture::posix
