#pragma once

#include <functional>
#include <string>

#include <hdf5.h>

#include "method/method.hpp"

namespace slabmark {

/// Why files cannot go through the log-layout connector: its plugin is not there. Empty: they can.
std::string missing_connector();

/// The options hdf5.connector and hdf5.log_view.
OptionInfo connector_option();
OptionInfo log_view_option();

/// Puts the connector that the options ask for into a file access list, with `always` the
/// log-layout one in any case; null for HDF5's own. Throws InputError for bad values.
std::function<herr_t(hid_t list)> connector_of(const Settings& settings, bool always);

}  // namespace slabmark
