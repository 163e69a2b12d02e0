#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "accel/hdf5_connector/canonical/canonical_file.hpp"
#include "accel/hdf5_connector/log/log_file.hpp"

namespace slabmark::slablog {

struct Object;

/// The buffers that a program wants HDF5 to have for a file's elements.
struct WantedBuffers {
  std::size_t sieve_bytes = 0;
  std::size_t chunk_slots = 0, chunk_bytes = 0;
  double preemption = 0;
};

/// A file of either layout with the objects that are open in it. When the last of them is closed,
/// HDF5 closes the file, unless it is mounted or otherwise in use; when HDF5 has closed it, this
/// ends.
struct TrackedFile {
  explicit TrackedFile(std::unique_ptr<LogFile> of_log)
      : log(of_log.get()), file(std::move(of_log)) {}
  TrackedFile(std::unique_ptr<CanonicalFile> of_canonical, const WantedBuffers& of_program)
      : canonical(of_canonical.get()), wanted(of_program), file(std::move(of_canonical)) {}

  LogFile* log = nullptr;              ///< the file, in the log layout
  CanonicalFile* canonical = nullptr;  ///< the file, in the canonical layout
  WantedBuffers wanted;                ///< of the canonical layout
  /// HDF5's. To ask for it copies the access list, and a communicator with that.
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  bool closing = false;  ///< HDF5 closes the file, maybe with what is open in it
  std::string failure;   ///< of the last flush; empty: there was none
  std::unique_ptr<DataFile> file;
  std::set<Object*> objects;
  std::weak_ptr<TrackedFile> mounted_in;

  /// Collective: makes this flush, and keeps its failure.
  void attempt(void (DataFile::*flush)(const Location&));

  /// The log's group, which is open below as long as there are objects; else one of these.
  Location location() const;
  /// `object`: the first time a file that was just opened.
  void open_group(const Object& object);
  void close_group();
  /// True if nothing of it, or no handle of the file, is open but this.
  bool is_last(const Object& object) const;
  const Object& any_object() const;
  /// True if an object of the file is the log's group, or the root.
  bool is_group(const H5O_token_t& token) const;
  bool is_root(const H5O_token_t& token) const;
  const H5O_token_t& root() const { return root_; }

 private:
  void* group_ = nullptr;
  std::optional<H5O_token_t> token_;  ///< of the group
  H5O_token_t root_{};
};

/// The open files by HDF5's own number of them.
std::map<unsigned long, std::weak_ptr<TrackedFile>>& tracked_files();
std::shared_ptr<TrackedFile> tracked_file(unsigned long number);
/// The files that are mounted in each other, `tracked` among them; none for null.
std::vector<std::shared_ptr<TrackedFile>> mounted_together(
    const std::shared_ptr<TrackedFile>& tracked);

/// To be called before HDF5 looks at elements of a file that this process alone has open: puts what
/// is pending there into it. With several ranks HDF5 sees what was flushed.
void show_all(const std::shared_ptr<TrackedFile>& tracked);
/// The same for all files, where a call may lead into others: mounted ones, links, virtual
/// datasets.
void show_all_files();

}  // namespace slabmark::slablog
