#include "convert/quantize.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "convert/layout.hpp"
#include "convert/selection.hpp"
#include "convert/settings.hpp"
#include "core/base/error.hpp"

namespace slabmark::convert {

namespace {

constexpr const char* bits_attribute = "_QuantizeBitRoundNumberOfSignificantBits";

/// Bits behind the leading one of a mantissa.
std::uint64_t mantissa_bits(ElementType type) {
  return type == ElementType::float32 ? std::numeric_limits<float>::digits - 1
                                      : std::numeric_limits<double>::digits - 1;
}

template <class Word, class Number>
void round_all(std::byte* memory, std::uint64_t elements, const std::byte* fill, unsigned zeros) {
  if (zeros == 0) return;
  const Word kept = ~Word{0} << zeros;
  const Word half = Word{1} << (zeros - 1);
  for (std::uint64_t i = 0; i < elements; ++i, memory += sizeof(Word)) {
    Word word;
    std::memcpy(&word, memory, sizeof word);
    if (!std::isfinite(std::bit_cast<Number>(word)) ||
        std::memcmp(memory, fill, sizeof word) == 0) {
      continue;
    }
    word = (word + half) & kept;
    std::memcpy(memory, &word, sizeof word);
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
      const std::uint64_t bits = settings.of(variable).quantization.bits;
      fills_.emplace_back();
      bits_.push_back(bits);
      // Coefficients of vertical coordinates, areas and the like are lines, and no attribute that
      // is always there tells them from others.
      if (bits == 0 || !has_point || is_needed[v] || variable.dimensions.size() < 2) continue;
      require_bits(variable, bits);
      fills_.back() = fill_of(variable);
      note(variable, bits);
    }
  }

  void read(std::size_t variable, const Hyperslab& box, std::byte* memory) override {
    source_->read(variable, box, memory);
    const std::vector<std::byte>& fill = fills_[variable];
    if (fill.empty()) return;
    const ElementType type = contents_.variables[variable].type;
    const auto zeros = static_cast<unsigned>(mantissa_bits(type) - bits_[variable]);
    if (type == ElementType::float32) {
      round_all<std::uint32_t, float>(memory, element_count(box), fill.data(), zeros);
    } else {
      round_all<std::uint64_t, double>(memory, element_count(box), fill.data(), zeros);
    }
  }

 protected:
  std::vector<Source*> parts() const override { return {source_.get()}; }

 private:
  static void require_bits(const FileVariable& variable, std::uint64_t bits) {
    if (bits <= mantissa_bits(variable.type)) return;
    throw InputError(fmt::format(
        "--quantize keeps {} bits, but variable '{}' has {}; keep fewer, or leave it out with "
        "--skip.",
        bits, variable.name, mantissa_bits(variable.type)));
  }

  static void note(FileVariable& variable, std::uint64_t significant) {
    std::erase_if(variable.attributes,
                  [](const FileAttribute& one) { return one.name == bits_attribute; });
    const auto bits = static_cast<std::int32_t>(significant);
    FileAttribute attribute{.name = bits_attribute, .type = ElementType::int32};
    attribute.values.resize(sizeof bits);
    std::memcpy(attribute.values.data(), &bits, sizeof bits);
    variable.attributes.push_back(std::move(attribute));
  }

  std::shared_ptr<Source> source_;
  std::vector<std::uint64_t> bits_;            ///< by variable
  std::vector<std::vector<std::byte>> fills_;  ///< by variable; empty: it is not rounded
};

}  // namespace

std::unique_ptr<Source> quantize(std::shared_ptr<Source> source, const Settings& settings) {
  return std::make_unique<RoundedSource>(std::move(source), settings);
}

}  // namespace slabmark::convert
