#include "accel/pnetcdf_dropin/pending.hpp"

#include <algorithm>

namespace slabmark::dropin {

int PendingRequests::add(std::unique_ptr<Request> request) {
  request->id = first_id + 2 * next_id_++ + (request->direction == Direction::get ? 1 : 0);
  if (request->buffered) buffered_.push_back({request->id, request->bytes()});
  requests_.push_back(std::move(request));
  Request& its = *requests_.back();
  try {
    memory_.add(its);
  } catch (...) {
    requests_.pop_back();
    throw;
  }
  return its.id;
}

// Ids ascend in the list.
Request* PendingRequests::find(int id) const {
  const auto found = std::lower_bound(
      requests_.begin(), requests_.end(), id / 2,
      [](const std::unique_ptr<Request>& request, int half) { return request->id / 2 < half; });
  return found != requests_.end() && (*found)->id == id ? found->get() : nullptr;
}

std::vector<Request*> PendingRequests::of_kind(int kind) const {
  std::vector<Request*> found;
  for (const auto& request : requests_) {
    if (request->is_of(kind)) found.push_back(request.get());
  }
  return found;
}

void PendingRequests::drop(const std::vector<Request*>& requests) {
  for (Request* request : requests) request->id = NC_REQ_NULL;
  drop_done();
}

void PendingRequests::drop(int count, const int* ids) {
  for (const auto& request : requests_) {
    const bool is_named = count < 0
                              ? request->is_of(count)
                              : ids && std::find(ids, ids + count, request->id) != ids + count;
    if (is_named) request->id = NC_REQ_NULL;
  }
  drop_done();
}

void PendingRequests::drop_done() {
  std::erase_if(requests_, [&](const auto& request) {
    const bool is_done = request->id == NC_REQ_NULL;
    if (is_done) memory_.release(*request);
    return is_done;
  });
  free_buffered();
}

std::uint64_t PendingRequests::buffered_bytes() const {
  std::uint64_t bytes = 0;
  for (const Buffered& one : buffered_) bytes += one.bytes;
  return bytes;
}

void PendingRequests::free_buffered() {
  while (!buffered_.empty() && !find(buffered_.back().id)) buffered_.pop_back();
}

}  // namespace slabmark::dropin
