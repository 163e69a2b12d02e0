#include "method/pnetcdf/info.hpp"

#if SLABMARK_WITH_PNETCDF
#include "method/pnetcdf/requests.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

/// One varn call per variable, which takes all its hyperslabs.
class PnetcdfVarn : public PnetcdfRequests {
 public:
  explicit PnetcdfVarn(const MethodContext& context) : PnetcdfRequests(context) {}

 protected:
  void post_nonblocking(const Request& r) override {
    const auto memory = r.memory.take(r.part.elements);
    const auto boxes = static_cast<int>(r.part.boxes());
    if (writing()) {
      file().iput_varn(r.variable, boxes, r.boxes.starts(r.part.first),
                       r.boxes.counts(r.part.first), memory.address, memory.count, memory.type);
    } else {
      file().iget_varn(r.variable, boxes, r.boxes.starts(r.part.first),
                       r.boxes.counts(r.part.first), memory.address, memory.count, memory.type);
    }
    count_call(writing() ? "ncmpi_iput_varn" : "ncmpi_iget_varn");
  }

  void move_blocking(const Request& r) override {
    const auto memory = r.memory.take(r.part.elements);
    const auto boxes = static_cast<int>(r.part.boxes());
    if (writing()) {
      file().put_varn_all(r.variable, boxes, r.boxes.starts(r.part.first),
                          r.boxes.counts(r.part.first), memory.address, memory.count, memory.type);
    } else {
      file().get_varn_all(r.variable, boxes, r.boxes.starts(r.part.first),
                          r.boxes.counts(r.part.first), memory.address, memory.count, memory.type);
    }
    count_call(writing() ? "ncmpi_put_varn_all" : "ncmpi_get_varn_all");
  }
};

}  // namespace
#endif

MethodInfo pnetcdf_varn_method() {
  auto info = pnetcdf_info("pnetcdf-varn", "one ncmpi_iput_varn per variable, then ncmpi_wait_all");
  info.options.push_back(pnetcdf_blocking_option("ncmpi_put_varn_all per variable"));
#if SLABMARK_WITH_PNETCDF
  info.make = [](const MethodContext& context) { return std::make_unique<PnetcdfVarn>(context); };
#endif
  return info;
}

}  // namespace slabmark
