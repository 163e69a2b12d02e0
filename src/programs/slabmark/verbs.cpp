#include "programs/slabmark/verbs.hpp"

#include <map>

namespace slabmark::command {

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Measure and convert, also under mpiexec and srun",
       Runner::executable,
       {{"bench", "Time methods of parallel I/O on a pattern"},
        {"probe", "Time the messages and files of each node"},
        {"decomp", "Describe, check, convert, generate and draw decompositions"},
        {"pattern", "Merge, describe and print recorded patterns"},
        {"log", "Describe, convert and repair files of the log layout"},
        {"blob", "Convert files of the method blob"},
        {"convert", "Convert, compress and rechunk netCDF files in parallel"}}},
      {"Plan, judge and improve",
       Runner::lab,
       {{"sweep", "Measure the cells of a study in random order"},
        {"report", "Make one self-contained HTML page from records"},
        {"compare", "Tell whether NEW is faster or slower than BASE"},
        {"track", "Keep many nights in a store and find what changed, and when"},
        {"accept", "Judge a file system against its targets by a fixed suite"},
        {"advise", "Try methods and settings, and say which to use here"},
        {"apply", "Run a program with the PnetCDF drop-in or the HDF5 connector"},
        {"capture", "Record a program's calls of its I/O libraries as a pattern"},
        {"describe", "Make a pattern file from a short text or a Darshan log"},
        {"doctor", "Show what is in effect on this machine and what is wrong"}}},
      {"Programs of their own, with the options of their originals",
       Runner::itself,
       {{"e3sm_io", "Write and read the variables of E3SM"},
        {"dat2nc", "Convert decompositions from text to NetCDF"},
        {"dwrite_eval", "Time writes of decomposed arrays"},
        {"slice_eval", "Time strided slices"},
        {"h5perf", "Time HDF5, MPI-IO and POSIX beside each other"},
        {"seism-core-slice", "Write slices and checkpoints of a seismic code"},
        {"seism-core-check", "Check the files of seism-core-slice"},
        {"seism-read", "Time reads of a seismic code's checkpoint"}}},
  };
  return all;
}

const Runner* runner_of(std::string_view name) {
  for (const Group& group : groups()) {
    for (const Verb& verb : group.verbs) {
      if (verb.name == name) return &group.runner;
    }
  }
  return nullptr;
}

std::vector<std::string> names(bool with_programs) {
  std::vector<std::string> found;
  for (const Group& group : groups()) {
    if (group.runner == Runner::itself && !with_programs) continue;
    for (const Verb& verb : group.verbs) found.push_back(verb.name);
  }
  return found;
}

std::vector<std::string> earlier_name(std::string_view name) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> words = {
      {"slabmark-bench", {"bench"}},     {"slabmark-blob", {"blob"}},
      {"slabmark-decomp", {"decomp"}},   {"slabmark-pattern", {"pattern"}},
      {"slabmark-probe", {"probe"}},     {"slablog-canonical", {"log", "canonical"}},
      {"slablog-info", {"log", "info"}}, {"slablog-repair", {"log", "repair"}},
  };
  const auto found = words.find(name);
  return found == words.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace slabmark::command
