#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slabmark::slablog {

/// Where the elements of a file go.
enum class Layout {
  log,       ///< one after another into a log, which virtual datasets describe
  canonical  ///< into the datasets' own space: an ordinary file
};

/// How a dataset looks to programs without this connector.
enum class View {
  virtual_dataset,  ///< described by mappings onto the log
  materialise,      ///< written once more, contiguously
  none              ///< not at all until slabmark log repair
};

/// How a flush writes what the ranks have.
enum class Writing {
  independent,  ///< each rank by pwrite
  collective    ///< all together through MPI-IO, which may gather it on few ranks
};

/// When the ranks see what others wrote, without a flush by the program.
enum class Visibility {
  reads,  ///< where they read together
  strict  ///< also where they have written together
};

struct Config {
  Layout layout = Layout::log;
  View view = View::virtual_dataset;
  Writing writing = Writing::independent;
  Visibility visibility = Visibility::reads;
  std::uint64_t buffer_bytes = std::uint64_t{256} << 20;  ///< a rank holds before it spills
  std::uint64_t most_hyperslabs = 1'000'000;              ///< of a dataset; above, it materialises
};

/// From "layout=log;view=none;buffer=64M;cap=1000" and, for what that does not say, the
/// environment's SLABLOG_LAYOUT, SLABLOG_VIEW, SLABLOG_WRITE, SLABLOG_VISIBILITY, SLABLOG_BUFFER
/// and SLABLOG_CAP. Words that are not the connector's are left to HDF5. Throws InputError for a
/// bad value.
Config parse_config(std::string_view text);
std::string to_string(const Config& config);

}  // namespace slabmark::slablog
