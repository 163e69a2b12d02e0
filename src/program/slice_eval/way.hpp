#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel/comm.hpp"
#include "program/slice_eval/field.hpp"
#include "program/slice_eval/options.hpp"
#include "slice/output.hpp"

namespace slabmark::slice_eval {

/// How an output is read back.
struct FileLayout {
  std::string dataset;     ///< of the first field; "%" stands for the field's number
  bool has_normal = true;  ///< the plane's normal axis is a dimension of length 1
};

/// One way of writing a slice of the fields, output after output.
class Way {
 public:
  virtual ~Way() = default;
  virtual void output(std::uint64_t number, double time) = 0;  ///< collective
  virtual void finish() = 0;                                   ///< collective
  virtual slice::Tally tally() const { return {}; }
  virtual std::vector<std::string> files() const = 0;  ///< of all outputs, in order; on all ranks
  virtual FileLayout layout() const { return {"VTKHDF/PointData/f%"}; }
  /// What its library really did, after finish().
  virtual nlohmann::json effective() const { return nlohmann::json::object(); }
};

/// What ways are made from. Everything outlives them.
struct WayContext {
  const Comm& comm;
  const Options& options;
  Fields& fields;
  Slice slice;
  std::string stem;  ///< of the files
};

/// Throws InputError if there is no way of this name.
void require_way(const std::string& name);

/// Whether a way makes sense only for strided slices: those that copy first.
bool copies_first(const std::string& name);

/// Why this way cannot write this slice, or nothing.
std::string reason_against(const std::string& name, const WayContext& context);

/// Collective.
std::unique_ptr<Way> make_way(const std::string& name, const WayContext& context);

/// The ways in files of their own.
std::unique_ptr<Way> make_copying_way(bool whole_field, const WayContext& context);
std::unique_ptr<Way> make_method_way(const MethodInfo& method, const WayContext& context);
std::unique_ptr<Way> make_bare_way(const WayContext& context);
std::unique_ptr<Way> make_reading_way(bool in_order, const WayContext& context);

}  // namespace slabmark::slice_eval
