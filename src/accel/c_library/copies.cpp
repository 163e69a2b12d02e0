#include "accel/c_library/copies.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace slabmark::rearrange {

struct Copies::Pool {
  using Memory = std::unique_ptr<std::byte[]>;

  std::mutex mutex;
  std::multimap<std::uint64_t, Memory> idle;  ///< by bytes
  std::uint64_t idle_bytes = 0, used_bytes = 0, most_used = 0;

  Memory take(std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    Memory memory;
    // The memory that came back last is the likeliest to be in a cache.
    if (const auto [first, end] = idle.equal_range(bytes); first != end) {
      idle_bytes -= bytes;
      memory = std::move(idle.extract(std::prev(end)).mapped());
    } else {
      while (!idle.empty() && used_bytes + bytes + idle_bytes > most_used) {
        idle_bytes -= idle.begin()->first;
        idle.erase(idle.begin());
      }
      memory.reset(new std::byte[bytes]);
    }
    used_bytes += bytes;
    most_used = std::max(most_used, used_bytes);
    return memory;
  }

  void give_back(Memory memory, std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    used_bytes -= bytes;
    try {
      idle.emplace(bytes, std::move(memory));
      idle_bytes += bytes;
    } catch (const std::bad_alloc&) {  // no memory to keep it in: it goes
    }
  }
};

Copies::Copies() : pool_(std::make_shared<Pool>()) {}

std::shared_ptr<std::byte[]> Copies::memory(std::uint64_t bytes) {
  return {pool_->take(bytes).release(), [pool = pool_, bytes](std::byte* memory) {
            pool->give_back(Pool::Memory(memory), bytes);
          }};
}

}  // namespace slabmark::rearrange
