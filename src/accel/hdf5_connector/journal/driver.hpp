#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hdf5.h>

#include "accel/hdf5_connector/journal/journal.hpp"

namespace slabmark::slablog {

/// Changes the driver of a file access list, MPI-IO or POSIX, for one that does the same and keeps
/// the journal of what HDF5 overwrites; null: of nothing. The list is good for opening files as
/// long as the journal lives. Throws IoError.
void keep_journal(hid_t access, Journal* journal);

/// Changes it back.
void forget_journal(hid_t access);

/// The file of this journal may have been opened before without it, through an external link. From
/// here on, its journal is kept.
void take_journal(const std::shared_ptr<Journal>& journal);

/// As long as one lives, HDF5 takes files that are open so through MPI-IO for those of this process
/// alone. A virtual dataset that is opened then has no duplicate of the file's communicator, for
/// which ranks would need each other. It is good for those whose sources are in their own file.
class OpeningAlone {
 public:
  OpeningAlone();
  ~OpeningAlone();
  OpeningAlone(const OpeningAlone&) = delete;
  OpeningAlone& operator=(const OpeningAlone&) = delete;

 private:
  std::vector<H5FD_t*> files_;
};

/// True if HDF5 has the file of this journal open.
bool is_open(const Journal& journal);

/// True if several ranks may have that file open together, through such a list.
bool is_open_together(const std::string& path);

/// Where the space ends that HDF5 has given out in the file of this journal. Throws IoError if it
/// is not open through keep_journal().
std::uint64_t end_of_space(const Journal& journal);

}  // namespace slabmark::slablog
