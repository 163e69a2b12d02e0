#pragma once

#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace slabmark::conformance {

/// Hints as a program hands them over, whatever they are.
class MpiInfo {
 public:
  explicit MpiInfo(const std::vector<std::pair<std::string, std::string>>& hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  ~MpiInfo() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MpiInfo(const MpiInfo&) = delete;
  MpiInfo& operator=(const MpiInfo&) = delete;

  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace slabmark::conformance
