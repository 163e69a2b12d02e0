#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convert/source.hpp"

namespace slabmark::convert {

/// The variables to convert.
struct Selection {
  std::vector<std::string> only;  ///< and what belongs to them; none: all
  std::vector<std::string> skip;  ///< in any case

  bool is_all() const { return only.empty() && skip.empty(); }
};

/// The source with those variables alone. To a variable belong its coordinate variables and those
/// that its attributes "bounds", "climatology" and "coordinates" name. Dimensions that only other
/// variables have are left out. Names that the source does not have choose nothing.
std::unique_ptr<Source> select(std::shared_ptr<Source> source, const Selection& selection);

/// Throws InputError for a name that no file has.
void require_names(std::span<const FileContents* const> files, const Selection& selection);

/// By variable: whether it belongs to another one.
std::vector<bool> needed_by_others(const FileContents& contents);

/// The variables that have files of their own where a source is split: those with records that no
/// other variable needs. Each is selected with what belongs to it, and with all variables that have
/// no records.
std::vector<Selection> split(const FileContents& contents);

}  // namespace slabmark::convert
