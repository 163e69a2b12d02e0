// Records what a rank of a large program would: play_rank RANK RANKS STEPS VARIABLES BOXES.
// SLABMARK_CAPTURE names the pattern file to be. Each variable takes lists of boxes that no other
// has, so that nothing is stored once for two.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "capture/record/recorder.hpp"

using namespace slabmark::capture;

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const int rank = std::atoi(argv[1]);
  const int ranks = std::atoi(argv[2]);
  const int steps = std::atoi(argv[3]);
  const int variables = std::atoi(argv[4]);
  const long boxes_a_call = std::atol(argv[5]);
  set_rank(rank, ranks);
  const Id file = open_file(R"({"kind":"file","level":"pnetcdf","path":"out.nc"})");
  const Id put = define(R"({"effect":"write","kind":"call","name":"ncmpi_iput_varn"})");
  const Id wait = define(R"({"effect":"flush","kind":"call","name":"ncmpi_wait_all"})");
  Boxes boxes(2);
  unsigned state = static_cast<unsigned>(rank) + 1;
  for (int step = 0; step < steps; ++step) {
    for (int variable = 0; variable < variables; ++variable) {
      const Id dataset = define(R"({"kind":"dataset","name":"v)" + std::to_string(variable) +
                                R"(","type":"float64","extent":[72,100000000]})");
      const Call call;
      boxes.clear(2);
      long column = 0;
      for (long i = 0; i < boxes_a_call; ++i) {
        state = state * 1664525U + 1013904223U;
        column += 2 + (state >> 20) % 200;
        const long start[] = {i * 72 / boxes_a_call, column};
        const long count[] = {1, 1 + (state >> 28)};
        boxes.add(start, count);
      }
      record({.call = put,
              .file = file,
              .dataset = dataset,
              .flags = writes | nonblocking,
              .selection = &boxes});
    }
    const Call call;
    record({.call = wait, .file = file, .flags = collective, .requests = {Requests::Which::all}});
  }
  return 0;
}
