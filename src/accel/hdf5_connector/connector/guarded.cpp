#include "accel/hdf5_connector/connector/guarded.hpp"

#include <exception>

#include "accel/hdf5_connector/refusal.hpp"

namespace slabmark::slablog {

void report(const char* callback) {
  try {
    throw;
  } catch (const Refusal& refusal) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, refusal.major_number(),
             refusal.minor_number(), "%s", refusal.what());
  } catch (const std::exception& error) {
    H5Epush2(H5E_DEFAULT, __FILE__, callback, __LINE__, H5E_ERR_CLS, H5E_VOL, H5E_CANTOPERATE, "%s",
             error.what());
  }
}

}  // namespace slabmark::slablog
