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
  using PnetcdfRequests::PnetcdfRequests;

 protected:
  void post_nonblocking(const Request& r) override {
    move_part(r, &pnetcdf::File::iput_varn, &pnetcdf::File::iget_varn);
    count_calls("ncmpi_iput_varn", "ncmpi_iget_varn");
  }

  void move_blocking(const Request& r) override {
    move_part(r, &pnetcdf::File::put_varn_all, &pnetcdf::File::get_varn_all);
    count_calls("ncmpi_put_varn_all", "ncmpi_get_varn_all");
  }

 private:
  template <class Put, class Get>
  void move_part(const Request& r, Put put, Get get) {
    move(put, get, r.memory.take(r.part.elements), r.variable, static_cast<int>(r.part.boxes()),
         r.boxes.starts(r.part.first), r.boxes.counts(r.part.first));
  }
};

}  // namespace
#endif

MethodInfo pnetcdf_varn_method() {
  auto info = pnetcdf_info("pnetcdf-varn", "one ncmpi_iput_varn per variable, then ncmpi_wait_all",
                           pnetcdf_options("ncmpi_put_varn_all per variable"));
#if SLABMARK_WITH_PNETCDF
  info.make = make_pnetcdf<PnetcdfVarn>;
#endif
  return info;
}

}  // namespace slabmark
