#include "accel/hdf5_connector/connector/dataset_transfer.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accel/hdf5_connector/connector/virtual_dataset.hpp"
#include "accel/hdf5_connector/journal/driver.hpp"
#include "accel/hdf5_connector/transfer.hpp"
#include "core/parallel/agree.hpp"
#include "storage/hdf5/placeholder.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

namespace {

/// Whether all ranks make a transfer together.
bool is_collective(hid_t list) {
  if (list == H5P_DATASET_XFER_DEFAULT || list == H5P_DEFAULT) return false;
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  hdf5::check(H5Pget_dxpl_mpio(list, &mode), "H5Pget_dxpl_mpio", "the transfer list");
  return mode == H5FD_MPIO_COLLECTIVE;
}

/// The files of several ranks among those that a transfer goes to.
std::vector<std::shared_ptr<TrackedFile>> shared_files(std::span<void* const> objects) {
  std::vector<std::shared_ptr<TrackedFile>> files;
  for (void* const object : objects) {
    const auto& tracked = as_object(object).tracked;
    if (!tracked || !tracked->file->is_shared()) continue;
    if (std::find(files.begin(), files.end(), tracked) == files.end()) files.push_back(tracked);
  }
  return files;
}

/// Collective: flushes a file where something of `objects` is pending on any rank.
void flush_where_pending(const TrackedFile& tracked, std::span<void* const> objects) {
  const bool pending = std::any_of(objects.begin(), objects.end(), [&](void* object) {
    const auto& mine = as_object(object);
    if (mine.tracked.get() != &tracked) return false;
    return mine.dataset ? mine.dataset->has_pending()
                        : mine.mappings && tracked.file->has_pending();
  });
  if (tracked.file->on_any_rank(pending)) tracked.file->flush(tracked.location());
}

/// Where ranks read together, each sees what the others wrote.
void show_to_all(std::span<void* const> objects, hid_t list) {
  const auto files = shared_files(objects);
  if (files.empty() || !is_collective(list)) return;
  for (const auto& tracked : files) {
    if (tracked->file->writable()) flush_where_pending(*tracked, objects);
  }
}

/// The same where ranks write together, and one of them only some members of compounds: the others
/// may be pending on another rank.
void show_other_members(const TrackedFile& tracked, std::span<void* const> objects,
                        const hid_t* types) {
  bool has_compounds = false;
  bool leaves_members = false;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto& mine = as_object(objects[i]);
    if (mine.tracked.get() != &tracked || !mine.dataset) continue;
    if (H5Tdetect_class(mine.dataset->type(), H5T_COMPOUND) <= 0) continue;
    has_compounds = true;
    leaves_members = leaves_members || H5Tequal(types[i], mine.dataset->type()) == 0;
  }
  if (!has_compounds || !tracked.file->on_any_rank(leaves_members)) return;
  flush_where_pending(tracked, objects);
}

/// A call that writes elements: counted in each file before `act`, and seen by all ranks after it
/// where they make it together and want that.
template <class Act>
herr_t write_call(std::span<void* const> objects, const hid_t* types, hid_t list, const Act& act) {
  const auto files = shared_files(objects);
  const bool collective = !files.empty() && is_collective(list);
  for (const auto& tracked : files) {
    if (collective && tracked->file->writable()) show_other_members(*tracked, objects, types);
    tracked->file->begin_write(collective);
  }
  herr_t status = -1;
  Attempt attempt;  // a call that fails on one rank is flushed by all the same
  attempt.run([&] { status = act(collective); });
  for (const auto& tracked : files) {
    if (collective && tracked->file->is_strict() && tracked->file->writable()) {
      tracked->file->flush(tracked->location());
    }
  }
  if (attempt.failure()) std::rethrow_exception(attempt.failure());
  return status;
}

/// The datasets of a call that go to HDF5, all in one call: with several ranks all must make the
/// same calls.
struct NativeBatch {
  std::vector<void*> objects;
  std::vector<hid_t> types, memory, file;
  std::vector<hdf5::Space> kept;
  hid_t connector = H5I_INVALID_HID;

  void add(const Object& mine, hid_t type, hid_t memory_space, hid_t file_space) {
    objects.push_back(mine.under);
    types.push_back(type);
    memory.push_back(memory_space);
    file.push_back(file_space);
    connector = mine.connector;
  }

  void add_nothing(const Object& mine, hid_t type) {
    auto& none = kept.emplace_back(mine.dataset->extent());
    none.select_none();
    add(mine, type, none.get(), none.get());
  }
};

Elements selected_elements(const Object& mine, hid_t memory, hid_t file) {
  return selected(mine.dataset->extent(), memory, file, &mine.tracked->file->selections());
}

/// HDF5 reads nothing at all of a dataset that it would not fill and that has no space yet.
bool may_be_unreadable_below(const Object& mine) {
  return is_canonical(mine) && mine.tracked->canonical->may_be_unreadable(*mine.dataset);
}

bool is_misread_below(const Object& mine) {
  return is_canonical(mine) && canonical_of(mine)->misread.has_value();
}

/// Whether elements are pending of which the program may read only some members.
bool has_pending_members(const Object& mine, hid_t type) {
  return is_canonical(mine) && mine.dataset->has_pending() &&
         H5Tdetect_class(type, H5T_COMPOUND) > 0 && H5Tequal(type, mine.dataset->type()) == 0;
}

/// HDF5 reads and writes no virtual datasets of parallel files. One rank that tries it alone waits
/// for the others for ever.
void refuse_closed_log(const Object& mine) {
  if (!mine.is_closed_log) return;
  const auto path = file_name(mine.under, mine.type, mine.connector);
  if (!is_open_together(path) && !hdf5::is_open_together(path)) return;
  throw Refusal(H5E_DATASET, H5E_UNSUPPORTED,
                fmt::format("the elements are in the log of '{}', to which an external link leads; "
                            "open that file itself before you open the dataset",
                            path));
}

bool has_data_transform(hid_t list) {
  ssize_t length = -1;
  H5E_BEGIN_TRY { length = H5Pget_data_transform(list, nullptr, 0); }
  H5E_END_TRY
  return length > 0;
}

/// Reads a dataset that several ranks read together, in many pieces, by the engine. False: not so.
/// All ranks get the same answer.
bool read_together(Object& mine, hid_t type, hid_t list, void* buffer,
                   const std::function<Elements()>& elements_of_call) {
  if (!is_canonical(mine) || !mine.tracked->file->has_other_ranks() || !is_collective(list)) {
    return false;
  }
  auto& file = *mine.tracked->canonical;
  Elements elements;
  bool can = false;
  try {
    elements = elements_of_call();
    can = !has_data_transform(list) && !may_be_unreadable_below(mine) &&
          (buffer != nullptr || elements.count == 0);
  } catch (const Refusal&) {
    // What comes instead refuses it, too, as HDF5 does.
  }
  if (!file.reads_together(*mine.dataset, elements, can)) return false;
  bool takes_part = false;
  const auto read = [&](RunsPtr runs, std::byte* memory) {
    takes_part = true;
    file.read_together(*mine.dataset, std::move(runs), memory);
  };
  Attempt attempt;  // where it fails before, the others still wait for this rank
  attempt.run([&] {
    read_elements({file, *mine.dataset, type, list}, elements, buffer,
                  [&](std::byte* place) { read(elements.in_dataset, place); });
  });
  if (!takes_part) read(nullptr, nullptr);
  if (attempt.failure()) std::rethrow_exception(attempt.failure());
  return true;
}

/// Whether HDF5 shall write at once what a rank writes by itself, so that others see it.
bool goes_to_hdf5_at_once(const Object& mine, bool collective) {
  return !collective && is_canonical(mine) && mine.tracked->file->is_shared() &&
         mine.tracked->file->is_strict() && !canonical_of(mine)->has_filters() &&
         !mine.dataset->has_pending();
}

}  // namespace

void show_dataset(const Object& mine) {
  if (is_canonical(mine)) return mine.tracked->canonical->show(*mine.dataset);
  show_all(mine.tracked);
}

herr_t read_datasets(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[],
                     hid_t list, void* buffers[], void**) {
  return guarded("dataset read", [&]() -> herr_t {
    show_to_all({objects, count}, list);
    if (count == 1 && read_together(as_object(objects[0]), types[0], list, buffers[0], [&] {
          return selected_elements(as_object(objects[0]), memory[0], file[0]);
        })) {
      return 0;
    }
    NativeBatch native;
    std::vector<void*> targets;
    std::vector<std::vector<std::byte>> kept(count);
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      refuse_closed_log(mine);
      if (may_be_unreadable_below(mine)) show_dataset(mine);
      if (is_logged(mine) || may_be_unreadable_below(mine) || is_misread_below(mine)) {
        read_elements({*mine.tracked->file, *mine.dataset, types[i], list},
                      selected_elements(mine, memory[i], file[i]), buffers[i]);
        if (!is_misread_below(mine) || !mine.tracked->file->is_parallel()) continue;
        // A rank that has opened it anew reads it through HDF5, maybe together with all.
        native.add_nothing(mine, types[i]);
        targets.push_back(buffers[i]);
        continue;
      }
      if (mine.mappings) show_all_files();
      if (has_pending_members(mine, types[i])) {
        kept[i] = kept_of_pending({*mine.tracked->file, *mine.dataset, types[i], list},
                                  selected_elements(mine, memory[i], file[i]), buffers[i]);
      }
      native.add(mine, types[i], memory[i], file[i]);
      targets.push_back(buffers[i]);
    }
    if (targets.empty()) return 0;
    if (H5VLdataset_read(targets.size(), native.objects.data(), native.connector,
                         native.types.data(), native.memory.data(), native.file.data(), list,
                         targets.data(), nullptr) < 0) {
      return -1;
    }
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (!mine.dataset) {
        read_mapped(mine, types[i], memory[i], file[i], list, buffers[i]);
      } else if (is_canonical(mine) && mine.dataset->has_pending()) {
        read_pending({*mine.tracked->file, *mine.dataset, types[i], list},
                     selected_elements(mine, memory[i], file[i]), buffers[i], kept[i]);
      }
    }
    return 0;
  });
}

herr_t write_datasets(size_t count, void* objects[], hid_t types[], hid_t memory[], hid_t file[],
                      hid_t list, const void* buffers[], void**) {
  const auto act = [&](bool collective) -> herr_t {
    // Refusals come before anything is written.
    std::vector<Elements> elements(count);
    for (size_t i = 0; i < count; ++i) {
      const auto& mine = as_object(objects[i]);
      refuse_closed_log(mine);
      if (mine.dataset) elements[i] = selected_elements(mine, memory[i], file[i]);
    }
    NativeBatch native;
    std::vector<const void*> sources;
    for (size_t i = 0; i < count; ++i) {
      auto& mine = as_object(objects[i]);
      if (mine.mappings) show_all_files();
      if (goes_to_hdf5_at_once(mine, collective)) {
        native.add(mine, types[i], memory[i], file[i]);
        sources.push_back(buffers[i]);
      } else if (mine.dataset) {
        write_elements({*mine.tracked->file, *mine.dataset, types[i], list}, elements[i],
                       buffers[i]);
      } else if (!write_mapped(mine, types[i], memory[i], file[i], list, buffers[i])) {
        native.add(mine, types[i], memory[i], file[i]);
        sources.push_back(buffers[i]);
      }
    }
    if (sources.empty()) return 0;
    return H5VLdataset_write(sources.size(), native.objects.data(), native.connector,
                             native.types.data(), native.memory.data(), native.file.data(), list,
                             sources.data(), nullptr);
  };
  return guarded("dataset write", [&] { return write_call({objects, count}, types, list, act); });
}

herr_t move_boxes(Object& dataset, slablog_n_args& call, bool writes, hid_t list) {
  const bool at_once = writes && goes_to_hdf5_at_once(dataset, is_collective(list));
  call.taken = dataset.dataset && !at_once ? 1 : 0;
  if (call.taken == 0) return 0;
  const auto move = [&]() -> herr_t {
    const Transfer transfer{*dataset.tracked->file, *dataset.dataset, call.mem_type, list};
    const auto elements = boxes(*dataset.dataset, call.n, call.starts, call.counts);
    if (writes) {
      write_elements(transfer, elements, call.buf);
    } else {
      read_elements(transfer, elements, call.buf);
    }
    return 0;
  };
  void* object = &dataset;
  if (writes) {
    return write_call({&object, 1}, &call.mem_type, list, [&](bool) { return move(); });
  }
  show_to_all({&object, 1}, list);
  if (read_together(dataset, call.mem_type, list, call.buf,
                    [&] { return boxes(*dataset.dataset, call.n, call.starts, call.counts); })) {
    return 0;
  }
  return move();
}

}  // namespace slabmark::slablog
