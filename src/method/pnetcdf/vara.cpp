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
  using PnetcdfRequests::PnetcdfRequests;

 protected:
  void post_nonblocking(const Request& r) override {
    for (auto box = r.part.first; box < r.part.end; ++box) {
      move(&pnetcdf::File::iput_vara, &pnetcdf::File::iget_vara,
           r.memory.take(r.boxes.elements(box)), r.variable, *r.boxes.starts(box),
           *r.boxes.counts(box));
    }
    count_calls("ncmpi_iput_vara", "ncmpi_iget_vara", r.part.boxes());
  }

  // A blocking call is done when it returns, so parts do not matter: all boxes go with the first
  // part, and a rank with fewer of them than others makes calls without elements.
  void move_blocking(const Request& r) override {
    if (!r.is_first_part) return;
    const std::vector<MPI_Offset> nothing(r.boxes.dims(), 0);
    for (std::size_t box = 0; box < r.most_boxes; ++box) {
      const bool mine = box < r.boxes.size();
      move(&pnetcdf::File::put_vara_all, &pnetcdf::File::get_vara_all,
           r.memory.take(mine ? r.boxes.elements(box) : 0), r.variable,
           mine ? *r.boxes.starts(box) : nothing.data(),
           mine ? *r.boxes.counts(box) : nothing.data());
    }
    count_calls("ncmpi_put_vara_all", "ncmpi_get_vara_all", r.most_boxes);
  }
};

}  // namespace
#endif

MethodInfo pnetcdf_vara_method() {
  const auto options =
      pnetcdf_options("ncmpi_put_vara_all per hyperslab, ranks padded to equal counts");
  auto info =
      pnetcdf_info("pnetcdf-vara",
                   "one ncmpi_iput_vara per hyperslab and variable, then ncmpi_wait_all", options);
#if SLABMARK_WITH_PNETCDF
  info.make = make_pnetcdf<PnetcdfVara>;
#endif
  return info;
}

}  // namespace slabmark
