#pragma once

namespace slabmark {

struct Program;

/// Runs a program of core/parallel/program.hpp as its main() does.
int run_program(int argc, char** argv, const Program& program);

/// The programs by their names, each in the folder of its name. A header of its own, and a light
/// one: main.cpp is compiled once for each program.
namespace programs {

const Program& bench();
const Program& blob();
const Program& convert();
const Program& dat2nc();
const Program& decomp();
const Program& dwrite_eval();
const Program& e3sm_io();
const Program& h5perf();
const Program& log();
const Program& pattern();
const Program& probe();
const Program& seism_core_check();
const Program& seism_core_slice();
const Program& seism_read();
const Program& slice_eval();

}  // namespace programs

}  // namespace slabmark
