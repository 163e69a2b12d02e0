#pragma once

#include <optional>
#include <string>

#include "convert/journal.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

/// A file under the name that it has until it is whole. It goes with this object unless it was
/// kept, or a later run may go on with it.
class UnfinishedFile {
 public:
  /// Collective. `journal`: on root, where there is one. Both outlive it.
  UnfinishedFile(const Comm& comm, const std::string& path, bool is_resumable, Journal* journal);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const std::string& path() const { return path_; }

  /// On root: gives it its name.
  void keep();
  /// It is of no use to a later run.
  void give_up() { journal_ = nullptr; }

 private:
  const Comm& comm_;
  std::string final_, path_;
  Journal* journal_;
  std::optional<RemoveOnAbort> guard_;
  bool is_kept_ = false;
};

}  // namespace slabmark::convert
