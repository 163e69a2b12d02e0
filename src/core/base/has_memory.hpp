#pragma once

#include <cstdint>
#include <new>

namespace slabmark {

/// True if so many bytes can be had now. They are given back at once.
inline bool has_memory_for(std::uint64_t bytes) {
  void* volatile memory = ::operator new(bytes, std::nothrow);
  ::operator delete(memory);
  return memory;
}

}  // namespace slabmark
