#include <cstring>
#include <memory>
#include <vector>

#include "method/hdf5/connector.hpp"
#include "method/hdf5/method.hpp"
#include "method/hdf5/plan.hpp"
#include "method/shared/selection_cache.hpp"
#include "method/shared/typed_memory.hpp"
#include "pattern/box_list.hpp"

namespace slabmark {

namespace {

using Boxes = BoxList<hsize_t>;

/// One H5Dwrite_n per dataset into the log; H5Fflush moves it to the file.
class Hdf5Log : public Hdf5Method {
 public:
  explicit Hdf5Log(const MethodContext& context) : Hdf5Method(context, true) {}

  void prepare() override {}

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
    const auto dense = gathered(transfer, buffer, size_of(description.type));
    auto* data = dense ? dense.get() : buffer;
    if (description.dimensions.empty() && !description.has_time) {
      move_scalar(transfer.dataset, elements, space, data);
    } else {
      auto& boxes = boxes_.get(transfer.file, nullptr, description.has_time ? 1 : 0, [&] {
        return Boxes(*transfer.file, description.has_time, elements + 1);
      });
      boxes.set_time(transfer.time);
      move_all(transfer.dataset, boxes, data, size_of(description.type));
    }
    if (!writing() && dense) spread(transfer, dense.get(), buffer, size_of(description.type));
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

  const RunList& runs(const Transfer& transfer) {
    return runs_.get(transfer.buffer, nullptr, 0, [&] { return buffer_runs(*transfer.buffer); });
  }

  /// Where the buffer has gaps: its elements one after another, as H5Dwrite_n takes them.
  std::unique_ptr<std::byte[]> gathered(const Transfer& transfer, const std::byte* buffer,
                                        std::size_t size) {
    if (!transfer.buffer) return nullptr;
    auto dense = std::make_unique<std::byte[]>(transfer.file->element_count() * size + 1);
    auto* to = dense.get();
    if (!writing()) return dense;
    for (const auto run : runs(transfer)) {
      std::memcpy(to, buffer + run.offset * size, run.length * size);
      to += run.length * size;
    }
    return dense;
  }

  void spread(const Transfer& transfer, const std::byte* dense, std::byte* buffer,
              std::size_t size) {
    for (const auto run : runs(transfer)) {
      std::memcpy(buffer + run.offset * size, dense, run.length * size);
      dense += run.length * size;
    }
  }

  SelectionCache<Boxes> boxes_;
  SelectionCache<RunList> runs_;
};

}  // namespace

MethodInfo hdf5_log_method() {
  auto info =
      hdf5_info("hdf5-log", "one H5Dwrite_n per dataset into a log, described by virtual datasets");
  info.missing = missing_connector();
  // Whatever the option says, files go through the log: a record must not quote its default.
  std::erase_if(info.options,
                [](const OptionInfo& option) { return option.name == connector_option().name; });
  info.make = [](const MethodContext& context) { return std::make_unique<Hdf5Log>(context); };
  return info;
}

}  // namespace slabmark
