#include "convert/quantize.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "convert/layout.hpp"
#include "convert/selection.hpp"
#include "convert/settings.hpp"
#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

constexpr double bits_a_digit = 3.32192809488736234787;
constexpr double digits_a_bit = 0.30102999566398119521;

/// What netCDF-C calls the attribute of a rounding.
const char* attribute_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::bit_round:
      return "_QuantizeBitRoundNumberOfSignificantBits";
    case Rounding::granular_bit_round:
      return "_QuantizeGranularBitRoundNumberOfSignificantDigits";
    default:
      return "_QuantizeBitGroomNumberOfSignificantDigits";
  }
}

/// Bits behind the leading one of a mantissa.
template <class Number>
constexpr int mantissa_bits = std::numeric_limits<Number>::digits - 1;

template <class Visit>
auto with_number(ElementType type, const Visit& visit) {
  return type == ElementType::float32 ? visit(float{}) : visit(double{});
}

/// The most that a rounding keeps of a type, as netCDF-C limits it.
std::uint64_t most_kept(Rounding rounding, ElementType type) {
  return with_number(type, [&](auto number) -> std::uint64_t {
    using Number = decltype(number);
    return rounding == Rounding::bit_round
               ? mantissa_bits<Number>
               : std::numeric_limits<Number>::digits10 + (std::is_same_v<Number, float> ? 1 : 0);
  });
}

/// Bits that this value needs for so many digits, by its own exponent.
template <class Number>
int granular_bits(Number value, std::uint64_t digits) {
  int exponent = 0;
  const double mantissa = std::fabs(std::frexp(static_cast<double>(value), &exponent));
  const double log10 = std::log10(mantissa);
  const int before_point = static_cast<int>(std::floor(exponent * digits_a_bit + log10)) + 1;
  const int power =
      static_cast<int>(std::floor(bits_a_digit * (before_point - static_cast<int>(digits))));
  return std::abs(static_cast<int>(std::floor(exponent - bits_a_digit * log10)) - power) - 1;
}

/// Rounds one value, the `index`-th of its variable.
template <class Number>
Number rounded(Number value, Quantization how, std::uint64_t index) {
  using Word = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  int bits = static_cast<int>(how.kept);
  if (how.rounding == Rounding::granular_bit_round) bits = granular_bits(value, how.kept);
  if (how.rounding == Rounding::bit_groom) {
    bits = static_cast<int>(std::ceil(bits_a_digit * static_cast<double>(how.kept))) + 1;
  }
  const int zeros = mantissa_bits<Number> - bits;
  if (zeros <= 0) return value;
  const Word kept = ~Word{0} << zeros;
  Word word = std::bit_cast<Word>(value);
  if (how.rounding == Rounding::bit_groom) {
    word = index % 2 == 0 ? word & kept : word | ~kept;
  } else {
    word = (word + (Word{1} << (zeros - 1))) & kept;
  }
  return std::bit_cast<Number>(word);
}

template <class Number>
void round_run(std::byte* memory, Run run, const std::byte* fill, Quantization how) {
  for (std::uint64_t i = 0; i < run.length; ++i, memory += sizeof(Number)) {
    Number value;
    std::memcpy(&value, memory, sizeof value);
    if (!std::isfinite(value) || value == 0 || std::memcmp(memory, fill, sizeof value) == 0) {
      continue;
    }
    value = rounded(value, how, run.offset + i);
    std::memcpy(memory, &value, sizeof value);
  }
}

class RoundedSource : public Source {
 public:
  RoundedSource(std::shared_ptr<Source> source, const Settings& settings)
      : source_(std::move(source)) {
    contents_ = source_->contents();
    const std::vector<bool> is_needed = needed_by_others(contents_);
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      FileVariable& variable = contents_.variables[v];
      const bool has_point =
          variable.type == ElementType::float32 || variable.type == ElementType::float64;
      const Quantization how = settings.of(variable).quantization;
      fills_.emplace_back();
      how_.push_back(how);
      // Coefficients of vertical coordinates, areas and the like are lines, and no attribute that
      // is always there tells them from others.
      if (how.rounding == Rounding::none || !has_point || is_needed[v] ||
          variable.dimensions.size() < 2) {
        continue;
      }
      require_precision(variable, how);
      fills_.back() = fill_of(variable);
      note(variable, how);
    }
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    source_->read(variable, box, memory);
    const std::vector<std::byte>& fill = fills_[variable];
    if (fill.empty()) return;
    with_number(contents_.variables[variable].type, [&](auto number) {
      for_each_run(box, contents_.extent_of(variable), [&](Run run) {
        round_run<decltype(number)>(memory, run, fill.data(), how_[variable]);
        memory += run.length * sizeof number;
      });
    });
  }

 protected:
  std::vector<Source*> parts() const override { return {source_.get()}; }

 private:
  static void require_precision(const FileVariable& variable, Quantization how) {
    const std::uint64_t most = most_kept(how.rounding, variable.type);
    if (how.kept <= most) return;
    throw InputError(fmt::format(
        "--quantize keeps {} {}, but variable '{}' has {}; keep fewer, or exempt it with --rule.",
        how.kept, how.rounding == Rounding::bit_round ? "bits" : "digits", variable.name, most));
  }

  static void note(FileVariable& variable, Quantization how) {
    const std::string name = attribute_of(how.rounding);
    std::erase_if(variable.attributes, [&](const FileAttribute& one) { return one.name == name; });
    const auto kept = static_cast<std::int32_t>(how.kept);
    FileAttribute attribute{.name = name, .type = ElementType::int32};
    attribute.values.resize(sizeof kept);
    std::memcpy(attribute.values.data(), &kept, sizeof kept);
    variable.attributes.push_back(std::move(attribute));
  }

  std::shared_ptr<Source> source_;
  std::vector<Quantization> how_;              ///< by variable
  std::vector<std::vector<std::byte>> fills_;  ///< by variable; empty: it is not rounded
};

}  // namespace

std::unique_ptr<Source> quantize(std::shared_ptr<Source> source, const Settings& settings) {
  return std::make_unique<RoundedSource>(std::move(source), settings);
}

}  // namespace slabmark::convert
