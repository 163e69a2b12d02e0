#include "capture/replay/pnetcdf/datatypes.hpp"

#include <pnetcdf.h>

#include "storage/mpiio/element_type.hpp"

namespace slabmark {

MPI_Datatype NetcdfDatatypes::element(std::uint64_t dataset) {
  const auto [known, is_new] = elements_.try_emplace(dataset, MPI_DATATYPE_NULL);
  if (is_new) {
    const std::string name = recorded_.definition(dataset).value("type", "");
    known->second = mpiio::mpi_type_of(find_element_type(name).value());
  }
  return known->second;
}

NetcdfMemory NetcdfDatatypes::memory(const CapturedEvent& event, MPI_Offset elements,
                                     std::byte* address) {
  NetcdfMemory memory{address, elements, element(event.dataset)};
  if (!event.memory) return memory;
  const BoxArray boxes = recorded_.lists.get(*event.memory);
  if (boxes.is_map) {
    memory.imap.assign(boxes.starts.begin(), boxes.starts.end());
    return memory;
  }
  auto [known, is_new] = memory_types_.try_emplace({*event.memory, memory.type});
  if (is_new) {
    mpiio::BlockList blocks(memory.type);
    add_memory(*event.memory, 0, blocks);
    known->second = blocks.datatype();
  }
  memory.type = known->second.get();
  memory.count = 1;
  return memory;
}

NetcdfMemory NetcdfDatatypes::memory(std::span<const CapturedEvent> parts,
                                     std::span<std::byte* const> addresses, NetcdfPlaces& places,
                                     Datatype& apart) {
  NetcdfMemory memory{nullptr, 0, element(parts.front().dataset)};
  mpiio::BlockList blocks(memory.type);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const MPI_Offset elements = places.elements_of(parts[i]);
    if (elements == 0) continue;
    if (memory.address == nullptr) memory.address = addresses[i];
    const MPI_Aint address = addresses[i] - memory.address;
    if (parts[i].memory) {
      add_memory(*parts[i].memory, address, blocks);
    } else {
      blocks.add({address, static_cast<std::uint64_t>(elements)});
    }
  }
  if (blocks.empty()) return memory;
  apart = blocks.datatype();
  memory.type = apart.get();
  memory.count = 1;
  return memory;
}

/// Boxes of memory, `address` bytes from where the call's memory begins.
void NetcdfDatatypes::add_memory(std::uint64_t list, MPI_Aint address,
                                 mpiio::BlockList& blocks) const {
  const BoxArray boxes = recorded_.lists.get(list);
  const auto bytes = static_cast<std::int64_t>(blocks.element_bytes());
  for (std::size_t i = 0; i < boxes.count; ++i) {
    blocks.add({address + (boxes.starts[i] + boxes.first(0)) * bytes,
                static_cast<std::uint64_t>(boxes.counts[i])});
  }
}

MPI_Datatype NetcdfDatatypes::filetype(std::span<const CapturedEvent> parts, ReplayedNetcdf& file,
                                       NetcdfPlaces& places) {
  using Selected = CapturedEvent::Selection;
  Key key;
  std::vector<std::int64_t> where;
  for (const CapturedEvent& part : parts) {
    const bool by_list = part.selection == Selected::list;
    key.insert(key.end(), {part.dataset, by_list ? part.list : CapturedEvent::none});
    where.insert(where.end(), part.origin.begin(), part.origin.end());
    where.insert(where.end(), part.counts.begin(), part.counts.end());
  }
  Filetype& known = filetypes_[file.id()][key];
  if (known.type.get() != MPI_DATATYPE_NULL && known.where == where) return known.type.get();
  mpiio::BlockList blocks(element(parts.front().dataset));
  const MPI_Offset begin = file.offset_of(parts.front().dataset);
  for (const CapturedEvent& part : parts) {
    if (part.selection == Selected::nothing) continue;
    add_part(part, file.offset_of(part.dataset) - begin, file, places, blocks);
  }
  known = {blocks.datatype(), where};
  return known.type.get();
}

/// The boxes of a part whose variable begins `begin` bytes behind that of the first part.
void NetcdfDatatypes::add_part(const CapturedEvent& part, MPI_Offset begin, ReplayedNetcdf& file,
                               NetcdfPlaces& places, mpiio::BlockList& blocks) {
  const Json& definition = recorded_.definition(part.dataset);
  const bool has_records = definition.contains("maximum") && definition["maximum"].at(0).is_null();
  const auto lengths = definition.value("extent", std::vector<MPI_Offset>{});
  MPI_Offset record_bytes = 0;
  file.check(ncmpi_inq_recsize(file.id(), &record_bytes), "ncmpi_inq_recsize");
  const auto bytes = static_cast<MPI_Offset>(blocks.element_bytes());
  const auto add = [&](const MPI_Offset* start, const MPI_Offset* count) {
    MPI_Offset length = 1, offset = 0;
    for (std::size_t d = has_records ? 1 : 0; d < part.rank; ++d) {
      offset = offset * lengths[d] + start[d];
      length *= count[d];
    }
    blocks.add({begin + offset * bytes + (has_records ? start[0] * record_bytes : 0),
                static_cast<std::uint64_t>(length)});
  };
  const NetcdfPlace& place = places.of(part);
  for (std::size_t i = 0; i < place.starts.size(); ++i) add(place.starts[i], place.counts[i]);
  if (place.starts.empty() && place.elements > 0) add(place.start.data(), place.count.data());
}

}  // namespace slabmark
