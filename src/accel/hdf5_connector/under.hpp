#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "core/geometry/extent.hpp"
#include "storage/hdf5/chunks.hpp"
#include "storage/hdf5/handle.hpp"
#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::slablog {

using pass_through::self;

/// Where the log of a file is found: its group below this connector, or the file, which must not be
/// mounted, for absolute names then begin in the parent's.
struct Location {
  void* object = nullptr;
  H5I_type_t type = H5I_FILE;
  hid_t connector = H5I_INVALID_HID;
};

/// The connector's group in the file, and the names in it.
const std::string log_group = "/_slablog";
std::string segment_name(std::uint64_t dataset, std::uint64_t flush);
std::string index_name(std::uint64_t flush);
std::string marks_name(std::uint64_t flush);
std::string view_name(std::uint64_t dataset);
std::string new_view_name(std::uint64_t dataset);  ///< while it is being made
std::string holes_name(std::uint64_t dataset);
/// The journal's own eight bytes.
const std::string mark_name = log_group + "/mark";
/// Number of the dataset whose view has this name, or nothing.
std::optional<std::uint64_t> dataset_of_view(const std::string& name);

/// Values of the group's attribute "state".
enum class LogState : int {
  closed = 0,  ///< every dataset's view shows what the log holds
  open = 1,    ///< being written, or its writer ended before it closed the file
  no_view = 2  ///< closed with view=none
};

/// A contiguous line of `elements` in the file, allocated but not filled.
struct Line {
  std::uint64_t address = 0;  ///< of its first byte in the file
  std::uint64_t elements = 0;
};

// All below act on the file under the connector, collectively if it is open so. Failures throw.

Line create_line(const Location& file, const std::string& name, hid_t type, std::uint64_t elements);
/// Nothing if there is none of that name.
std::optional<Line> find_line(const Location& file, const std::string& name);
/// A contiguous dataset of any shape, allocated but not filled; returns its address.
std::uint64_t create_array(const Location& file, const std::string& name, hid_t type,
                           const Extent& extent, hid_t creation);

/// Byte of the file at which an open contiguous dataset begins; nothing while it has no space.
std::optional<std::uint64_t> allocated_address(void* dataset, hid_t connector);
/// A second handle of an open dataset whose object is at `address`.
void* open_again(void* dataset, hid_t connector, std::uint64_t address);
/// A handle of the dataset whose object is there in an open file.
void* open_at(const Location& file, std::uint64_t address);

bool has_chunks(void* dataset, hid_t connector);
/// `first`: coordinates of its first element. Nothing where it has no space.
std::optional<hdf5::StoredChunk> stored_chunk(void* dataset, hid_t connector, const Extent& first);
/// Bytes that the addresses of stored_chunk() lack in this file: HDF5 before 1.14.4 leaves the user
/// block out (its issue 3003).
std::uint64_t left_out_of_chunk_addresses(void* file, hid_t connector);
/// Collective: gives a chunk space, enters it into the index, and returns its address; the file is
/// open through hdf5::leave_out_placeholders().
std::uint64_t allocate_chunk(void* dataset, hid_t connector, const hdf5::StoredChunk& chunk);

bool link_exists(const Location& file, const std::string& name);
void remove_link(const Location& file, const std::string& name);
void remove_link_if_there(const Location& file, const std::string& name);
void rename_link(const Location& file, const std::string& from, const std::string& to);
/// Puts all that HDF5 holds of the file into it.
void flush_file(const Location& file);
void create_log_group(const Location& file);
/// Attributes of an object of the log.
void set_number(const Location& file, const std::string& object, const char* attribute,
                std::int64_t value);
/// Nothing where the object has no such attribute.
std::optional<std::int64_t> number(const Location& file, const std::string& object,
                                   const char* attribute);

}  // namespace slabmark::slablog
