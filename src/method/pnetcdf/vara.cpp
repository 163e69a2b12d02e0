#include "method/pnetcdf/info.hpp"

#if SLABMARK_WITH_PNETCDF
#include "method/pnetcdf/requests.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

/// One vara call per hyperslab and variable.
class PnetcdfVara : public PnetcdfRequests {
 public:
  explicit PnetcdfVara(const MethodContext& context) : PnetcdfRequests(context) {}

 protected:
  void post_nonblocking(const Request& r) override {
    for (auto box = r.part.first; box < r.part.end; ++box) {
      const auto memory = r.memory.take(r.boxes.elements(box));
      const auto* start = *r.boxes.starts(box);
      const auto* count = *r.boxes.counts(box);
      if (writing()) {
        file().iput_vara(r.variable, start, count, memory.address, memory.count, memory.type);
      } else {
        file().iget_vara(r.variable, start, count, memory.address, memory.count, memory.type);
      }
    }
    count_calls(writing() ? "ncmpi_iput_vara" : "ncmpi_iget_vara", r.part.boxes());
  }

  // A blocking call is done when it returns, so parts do not matter: all boxes go with the first
  // part, and a rank with fewer of them than others makes calls without elements.
  void move_blocking(const Request& r) override {
    if (!r.is_first_part) return;
    const std::vector<MPI_Offset> nothing(r.boxes.dims(), 0);
    for (std::size_t box = 0; box < r.most_boxes; ++box) {
      const bool mine = box < r.boxes.size();
      const auto memory = r.memory.take(mine ? r.boxes.elements(box) : 0);
      const auto* start = mine ? *r.boxes.starts(box) : nothing.data();
      const auto* count = mine ? *r.boxes.counts(box) : nothing.data();
      if (writing()) {
        file().put_vara_all(r.variable, start, count, memory.address, memory.count, memory.type);
      } else {
        file().get_vara_all(r.variable, start, count, memory.address, memory.count, memory.type);
      }
    }
    count_calls(writing() ? "ncmpi_put_vara_all" : "ncmpi_get_vara_all", r.most_boxes);
  }
};

}  // namespace
#endif

MethodInfo pnetcdf_vara_method() {
  auto info = pnetcdf_info("pnetcdf-vara",
                           "one ncmpi_iput_vara per hyperslab and variable, then ncmpi_wait_all");
  info.options.push_back(
      pnetcdf_blocking_option("ncmpi_put_vara_all per hyperslab, ranks padded to equal counts"));
#if SLABMARK_WITH_PNETCDF
  info.make = [](const MethodContext& context) { return std::make_unique<PnetcdfVara>(context); };
#endif
  return info;
}

}  // namespace slabmark
