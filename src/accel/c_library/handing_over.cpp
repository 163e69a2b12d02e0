#include "accel/c_library/handing_over.hpp"

#include <vector>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"

namespace slabmark::rearrange {

namespace {

/// The elements of the buffer of a request, or of the fill values for its holes.
std::uint64_t buffer_elements(const Request& request, bool holes) {
  return holes ? request.fill.size() / request.place.element_bytes : request.decomposition->count();
}

const PiecesPtr& pieces_of(const Request& request, bool holes) {
  return holes ? request.decomposition->holes() : request.decomposition->pieces();
}

/// Calls visit(request, holes) for all that is moved of them.
template <class Visit>
void for_each_moved(const Requests& requests, const Visit& visit) {
  for (const Request& request : requests) {
    visit(request, false);
    if (request.has_fill) visit(request, true);
  }
}

/// Collective: shared memory for so many bytes of each flush. Nothing is left there of what was
/// copied, so requests whose copies were there get copies of their own.
bool widen(System& system, const FileData& file, std::uint64_t bytes, Requests& requests) {
  Handover& handover = *system.handover();
  const std::uint64_t most = system.options().held();
  if (most > 0 && handover.flushes() * bytes / handover.most_served() > most) return false;
  agreed(system.comm(), SLABMARK_EARGUMENT, [&] {
    for (Request& request : requests) {
      if (request.position) request.copy_to(system.copies());
      request.position.reset();
    }
  });
  system.wait_for_background();
  system.command({to_word(Command::reserve), static_cast<std::int64_t>(bytes)});
  return handover.reserve(bytes) && handover.claim(file.number());
}

/// Collective: the bytes that the requests need there, once I/O ranks know all their pieces.
std::uint64_t share_pieces(System& system, const Requests& requests) {
  Handover& handover = *system.handover();
  std::uint64_t bytes = 0;
  for_each_moved(requests, [&](const Request& request, bool holes) {
    const std::int64_t number = request.pieces_number(holes);
    if (!handover.knows(number)) {
      if (!holes) request.decomposition->refuse_shared(*request.name);
      system.command({to_word(Command::share), number});
      handover.share(number, *pieces_of(request, holes), buffer_elements(request, holes),
                     request.decomposition);
    }
    bytes += handover.bytes_of(number, request.place.element_bytes);
  });
  return bytes;
}

}  // namespace

void MovedRequests::add(const Request& request, bool holes, const PiecesPtr& pieces,
                        std::byte* buffer) {
  moved_.parts.push_back({request.place, pieces, buffer, *request.name});
  moved_.pieces.push_back(request.pieces_number(holes));
  moved_.variables.push_back(request.variable);
}

// All ranks have agreed that they have the same requests, so they come to the same.
bool hand_over(System& system, FileData& file, Requests& requests, std::int64_t records) {
  Handover& handover = *system.handover();
  if (!handover.claim(file.number())) return false;
  std::erase_if(requests, [](const Request& request) { return request.place.elements == 0; });
  if (requests.empty()) return true;
  // I/O ranks write all that is handed over at once.
  if (requests.back().round > 0) return false;
  const std::uint64_t bytes = share_pieces(system, requests);
  if (bytes == 0) return true;
  if (bytes > handover.bytes() && !widen(system, file, bytes, requests)) return false;
  MovedRequests moved(records);
  std::vector<std::uint64_t> positions;
  for_each_moved(requests, [&](const Request& request, bool holes) {
    const auto copied = [&] {
      return handover
          .copy(file.number(), request.pieces_number(holes),
                holes ? request.fill.data() : request.data, request.place.element_bytes)
          .value()
          .position;
    };
    moved.add(request, holes, nullptr, nullptr);
    positions.push_back(!holes && request.position ? *request.position : copied());
  });
  file.hand_over(moved.get(), positions);
  return true;
}

}  // namespace slabmark::rearrange
