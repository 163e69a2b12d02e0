#include "bench/method/hdf5/method.hpp"
#include "bench/method/hdf5/plan.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/method/shared/typed_memory.hpp"
#include "bench/pattern/box_list.hpp"

namespace slabmark {

namespace {

using Boxes = BoxList<hsize_t>;

/// One H5Dwrite_n per dataset into the log; H5Fflush moves it to the file.
class Hdf5Log : public Hdf5Method {
 public:
  using Hdf5Method::Hdf5Method;

 private:
  std::string call_name() const override { return writing() ? "H5Dwrite_n" : "H5Dread_n"; }

  void move_round(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const auto transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      move_transfer(transfers[i], buffers[i]);
    }
    boxes_.next_round();
    runs_.next_round();
  }

  void move_transfer(const Transfer& transfer, std::byte* buffer) {
    const auto& description = context_.pattern.datasets[transfer.dataset];
    auto& space = file_space(transfer.dataset, transfer.time);
    const auto elements = transfer.file->element_count();
    // H5Dwrite_n takes elements one after another.
    auto bounce = runs_.bounce(transfer, buffer, size_of(description.type));
    auto* data = bounce ? bounce->take(elements, writing()) : buffer;
    if (description.dimensions.empty() && !description.has_time) {
      move_scalar(transfer.dataset, elements, space, data);
    } else {
      auto& boxes = boxes_.get(transfer.file, nullptr, description.has_time ? 1 : 0, [&] {
        return Boxes(*transfer.file, description.has_time, elements + 1);
      });
      boxes.set_time(transfer.time);
      move_all(transfer.dataset, boxes, data, size_of(description.type));
    }
    if (!writing() && bounce) bounce->scatter(elements);
  }

  /// A rank without boxes makes the call, too: the others may wait for it where there is no log.
  void move_all(std::size_t dataset, const Boxes& boxes, std::byte* data, std::size_t size) {
    if (boxes.parts().empty()) move_boxes(dataset, {}, {}, data);
    for (const auto& part : boxes.parts()) {
      move_boxes(dataset, {boxes.starts(part.first), part.boxes()},
                 {boxes.counts(part.first), part.boxes()}, data);
      data += part.elements * size;
    }
  }

  void move_scalar(std::size_t dataset, std::uint64_t elements, hdf5::Space& space, void* data) {
    if (elements == 0) {
      space.select_none();
    } else {
      space.select_all();
    }
    move(dataset, line_of(elements), space, data);
  }

  SelectionCache<Boxes> boxes_;
  BufferRuns runs_;
};

}  // namespace

MethodInfo hdf5_log_method() {
  auto info = hdf5_info(
      "hdf5-log", "one H5Dwrite_n per dataset into a log, described by virtual datasets",
      make_hdf5<Hdf5Log>,
      // Files go through the log whatever the option says, so a record must not quote its default.
      {.options = hdf5_options().without({"hdf5.connector"}),
       .force = [](Hdf5Options& options) { options.logged = true; }});
  info.missing = missing_connector();
  return info;
}

}  // namespace slabmark
