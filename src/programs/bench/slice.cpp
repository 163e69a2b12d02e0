#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/slice_pattern.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// "z=..." is axis 2 and the text behind the sign.
std::pair<std::size_t, std::string_view> parse_axis(std::string_view text,
                                                    std::string_view option) {
  const auto axis = text.empty() ? std::string_view::npos : axis_names.find(text.front());
  if (axis == std::string_view::npos || text.size() < 3 || text[1] != '=') {
    throw InputError(
        fmt::format("{} '{}' names no axis; write x=, y= or z= in front.", option, text));
  }
  return {axis, text.substr(2)};
}

struct Plane {
  std::size_t normal;
  std::uint64_t position;
};

struct AxisRange {
  std::size_t axis;
  std::uint64_t begin;
  std::uint64_t end;
};

/// Planes or boxes of a field, every so many points.
class SliceCommand : public PatternCommand {
 public:
  std::string name() const override { return "slice"; }
  std::string help() const override {
    return "Planes and boxes of a 3-D field in blocks, every n-th point of them";
  }

  void add_options(Command& command) override {
    command.add_triple("--grid", field_.points, "Points of the field; x is the fastest", false)
        .required();
    grid_of_ranks_ =
        command.add_triple("--grid-of-ranks", field_.processes, "Ranks along each axis", false)
            .default_text("balanced")
            .retired("--processes");
    command.add_count("--halo", field_.halo, "Points around each block in memory",
                      {.max = std::uint64_t{1} << 20});
    command.add_flag(
        "--with-halos", with_halos_,
        "Write the halos at the field's outer faces, too; not with --plane or --range");
    command
        .add_texts("--plane", "AXIS=N", planes_,
                   "A plane such as z=75, normal to z at its point 75; may be repeated")
        .default_text("the whole field");
    command.add_texts(
        "--range", "AXIS=M:N", ranges_,
        "Points to keep along an axis, such as x=10:100 for 10 to 99; may be repeated");
    command.add_triple("--stride", strides_, "Keep every so many points, the last ones too");
    command.add_count("--variables", field_count_, "Number of variables", variables_of_pattern)
        .retired("--fields");
    command
        .add_count("--steps", output_count_, "Time steps; several give a time dimension",
                   {.min = 1})
        .retired("--outputs");
    add_type(command, "--type", element_, "Element type");
  }

  void check() override {
    balanced_ = !grid_of_ranks_->is_given();
    if (with_halos_ && !(planes_.empty() && ranges_.empty())) {
      throw InputError(
          "--with-halos is for the whole field; leave out --plane and --range, or it.");
    }
    for (const std::string& text : planes_) {
      const auto [axis, position] = parse_axis(text, "--plane");
      cuts_.push_back({axis, parse_count(position, "--plane", 0, field_.points[axis] - 1)});
    }
    for (const std::string& text : ranges_) keep(text, parse_range(text));
  }

  Pattern part(std::uint64_t rank, std::uint64_t ranks) override {
    if (balanced_) field_.processes = balanced_processes(ranks, field_.points);
    return make_slice_pattern({field_, slices(), field_count_, element_}, output_count_, rank,
                              ranks);
  }

 private:
  void keep(const std::string& text, const AxisRange& range) {
    const auto along_the_same = [&](const auto& other) { return other.axis == range.axis; };
    if (std::any_of(kept_.begin(), kept_.end(), along_the_same)) {
      throw InputError(
          fmt::format("--range '{}' is the second one along its axis; give one for each.", text));
    }
    const auto normal_to_it = [&](const auto& cut) { return cut.normal == range.axis; };
    if (std::any_of(cuts_.begin(), cuts_.end(), normal_to_it)) {
      throw InputError(fmt::format(
          "--range '{}' is along the normal of a --plane, which is one point there; leave one out.",
          text));
    }
    kept_.push_back(range);
  }

  static AxisRange parse_range(const std::string& text) {
    const auto [axis, range] = parse_axis(text, "--range");
    const auto colon = range.find(':');
    if (colon == std::string_view::npos) {
      throw InputError(
          fmt::format("--range '{}' has no end; write begin:end, such as x=10:100.", text));
    }
    return {axis, parse_count(range.substr(0, colon), "--range"),
            parse_count(range.substr(colon + 1), "--range")};
  }

  std::vector<Slice> slices() const {
    auto all = with_halos_ ? whole_field_with_halos(field_) : whole_field(field_);
    for (std::size_t axis = 0; axis < 3; ++axis) all.ranges[axis].stride = strides_[axis];
    for (const auto& kept : kept_) {
      all.ranges[kept.axis].begin = kept.begin;
      all.ranges[kept.axis].end = kept.end;
    }
    if (cuts_.empty()) return {all};
    std::vector<Slice> planes;
    for (const auto& cut : cuts_) planes.push_back(plane_of(all, cut.normal, cut.position));
    return planes;
  }

  BlockedField field_;
  std::vector<Plane> cuts_;
  std::vector<AxisRange> kept_;
  std::array<std::uint64_t, 3> strides_ = {1, 1, 1};
  ElementType element_ = ElementType::float64;
  std::uint64_t field_count_ = 1;
  std::uint64_t output_count_ = 1;

  bool with_halos_ = false;
  std::optional<OptionHandle> grid_of_ranks_;  ///< as long as the command line is parsed
  bool balanced_ = true;
  std::vector<std::string> planes_;
  std::vector<std::string> ranges_;
};

}  // namespace

std::unique_ptr<PatternCommand> make_slice_command() { return std::make_unique<SliceCommand>(); }

}  // namespace slabmark::bench_program
