#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "pattern/synthetic/f_decomposition.hpp"
#include "pattern/synthetic/g_decomposition.hpp"
#include "program/slabmark-decomp/commands.hpp"

namespace slabmark::decomp {

/// Numbers are taken as text, so that a wrong one is reported in our own words.
struct CommandLine {
  CLI::App app;
  CLI::App* info = nullptr;
  CLI::App* check = nullptr;
  CLI::App* convert = nullptr;
  CLI::App* generate = nullptr;
  CLI::App* generate_f = nullptr;
  CLI::App* generate_i = nullptr;
  CLI::App* generate_g = nullptr;

  std::vector<std::string> inputs;
  bool is_json = false;
  std::string ranks;
  std::string map;

  OutputOptions output;

  std::string ne;
  std::string levels;
  std::string tie_break = "encounter";
  std::string nlat = "96";
  std::string nlon = "144";
  std::string land_fraction;
  std::string clumps = "1";
  std::string seed = "1";
  std::string cells;
  std::string locality = "local";

  CommandLine();

  /// To be called after parsing. Throws InputError where the command, or the model of `generate`,
  /// is missing.
  void require_command() const;

  InfoOptions info_options() const;
  OutputOptions output_options() const;

  /// The decomposition that `generate` was asked for.
  SyntheticDecomposition generated() const;

 private:
  void add_output_options(CLI::App& command);
  void add_generate(CLI::App& command);
};

}  // namespace slabmark::decomp
