#include "core/parallel/end_of_mpi.hpp"

#include <utility>
#include <vector>

#include <mpi.h>

namespace slabmark {

namespace {

// What hangs on MPI_COMM_SELF. A library that is unloaded while MPI goes on (HDF5 unloads plugins
// in H5close) must leave nothing there that MPI would call.
class Calls {
 public:
  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    const auto keys = std::exchange(keys_, {});
    if (mpi_has_ended()) return;
    for (const int key : keys) MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  }

  void add(int key) { keys_.push_back(key); }
  /// Returns whether it was there still.
  bool take(int key) { return std::erase(keys_, key) > 0; }

 private:
  std::vector<int> keys_;
};

Calls& calls() {
  static Calls calls;
  return calls;
}

}  // namespace

// MPI_Finalize first frees what hangs on MPI_COMM_SELF.
void at_end_of_mpi(void (*call)()) {
  const auto make = [](MPI_Comm, int key, void* attribute, void*) -> int {
    if (calls().take(key)) reinterpret_cast<void (*)()>(attribute)();
    MPI_Comm_free_keyval(&key);
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, make, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(call));
  calls().add(key);
}

bool mpi_has_ended() {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended != 0;
}

}  // namespace slabmark
