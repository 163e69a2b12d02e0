#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "bench/pattern/selection.hpp"

namespace slabmark {

/// The object that a method builds from a pair of selections, once, and shares among all datasets
/// and rounds that use the pair (323 of E3SM's 414 F-case variables share one map). `variant` tells
/// apart what else it depends on, such as the element size.
///
/// Selections are kept alive here, so that an address cannot come to mean another selection.
/// Patterns that make new selections each round do not make this grow: next_round() drops what two
/// rounds did not use.
template <class Built>
class SelectionCache {
 public:
  /// Valid until next_round(). `buffer` may be null.
  Built& get(const SelectionPtr& file, const SelectionPtr& buffer, std::uint64_t variant,
             const std::function<Built()>& build) {
    const Key key{file.get(), buffer.get(), variant};
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      found = entries_.emplace(key, Entry{build(), file, buffer, round_}).first;
    }
    found->second.last_used = round_;
    return found->second.built;
  }

  void next_round() {
    ++round_;
    std::erase_if(entries_,
                  [this](const auto& entry) { return entry.second.last_used + 2 < round_; });
  }

 private:
  using Key = std::tuple<const Selection*, const Selection*, std::uint64_t>;
  struct Entry {
    Built built;
    SelectionPtr file;
    SelectionPtr buffer;
    std::uint64_t last_used = 0;
  };

  std::map<Key, Entry> entries_;
  std::uint64_t round_ = 0;
};

}  // namespace slabmark
