#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using SliceEval = ProgramTest;

TEST_F(SliceEval, WrongInputIsOneSentenceBeforeAnyFile) {
  std::vector<Refused> cases = {
      {"stride", {"--stride", "1,12,1"}, "along y"},
      {"processes", {"--processes", "3,1,1"}, "3 x 1 x 1"},
      {"processes of all axes", {"--processes", "2,2,2"}, "2 x 2 x 2"},
      {"halo", {"--halo", "1048576"}, "can be addressed"},
      {"no folder", {"-o", "/no/such/folder"}, "/no/such/folder"},
      {"a folder of the kernel", {"-o", "/proc"}, "'/proc' is not writable"},
      {"plane beyond the field", {"--plane", "z=9"}, "--plane"},
      {"no axis", {"--plane", "w"}, "--plane"},
      {"stride 0", {"--stride", "0,1,1"}, "--stride"},
      {"type", {"--type", "int32"}, "--type"},
      {"method", {"-m", "append,fast"}, "'fast'"},
      {"no outputs", {"--outputs", "0"}, "--outputs"},
      {"preset", {"--preset", "seed-181"}, "seed-181"},
      {"negative count", {"--regular", "-1"}, "--regular"},
      {"device", {"--device", "tpu"}, "--device"},
  };
  for (Refused& one : cases) {
    if (one.words.front() != "-o") one.words.insert(one.words.end(), {"-o", here()});
    if (one.words.front() != "--preset") one.words.insert(one.words.end(), {"--grid", "13,11,9"});
  }
  expect_all_refused(programs::slice_eval(), cases);
}

}  // namespace
}  // namespace slabmark
