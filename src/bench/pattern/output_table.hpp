#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pattern/decomposition_pattern.hpp"
#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// A variable of an output file as a table lists it.
struct TableVariable {
  std::string name;
  std::optional<ElementType> type;      ///< nothing: the user's choice for real numbers
  std::vector<std::string> dimensions;  ///< slowest first, without time
  bool has_time = false;
  std::optional<std::size_t> map;  ///< from 0; nothing: the first rank alone writes it
  std::vector<Attribute> attributes;
};

/// Everything that an application writes into one file.
struct OutputTable {
  /// Length of a dimension: that of another dimension, if one is named, plus a number.
  struct Length {
    std::string of;
    std::uint64_t plus = 0;
  };

  std::string name;                            ///< "f-h0"
  std::string summary;                         ///< "atmosphere, monthly means"
  std::vector<std::vector<std::string>> maps;  ///< dimensions of each
  std::map<std::string, Length> dimensions;    ///< those that no map has
  std::vector<TableVariable> variables;
  std::vector<Attribute> attributes;
};

/// The built-in tables of E3SM's output files: "f-h0", "f-h1", "g", "i-h0", "i-h1".
std::vector<std::string> output_table_names();

/// Throws InputError that names the nearest known name.
OutputTable find_output_table(std::string_view name);

/// The built-in table of a workload (bench/pattern/workload) of this name, which must exist.
OutputTable find_workload_table(std::string_view name);

/// Length of a dimension of the table: the known one, or what the table says of it. Throws
/// InputError where neither does.
std::uint64_t length_of(const OutputTable& table, const std::string& dimension,
                        const std::map<std::string, std::uint64_t>& known);

/// Parses a table (its form is in bench/pattern/e3sm/README.md). Throws InputError for another
/// form.
OutputTable parse_output_table(const std::string& name, std::string_view json);

/// The part of an output file that a rank owns.
struct OutputShare {
  std::vector<SelectionPtr> maps;  ///< of each map of the table, in its shape
  bool is_first = false;           ///< has what no map decomposes, as well
  ElementType real = ElementType::float64;
  std::uint64_t records = 1;
};

/// The pattern of one rank. In round r the variables with a time dimension move record r; those
/// without move in round 0. Throws InputError if maps do not have the table's number of dimensions
/// or disagree about a length, or if there are no records.
Pattern make_output_pattern(const OutputTable& table, const OutputShare& share);

}  // namespace slabmark
