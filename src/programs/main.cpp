/// The main() of every program. CMake says which one SLABMARK_PROGRAM is.

#include "programs/programs.hpp"

int main(int argc, char** argv) {
  return slabmark::run_program(argc, argv, slabmark::programs::SLABMARK_PROGRAM());
}
