#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using SlabmarkProbe = ProgramTest;

TEST_F(SlabmarkProbe, WrongUsageIsOneSentenceBeforeAnyFile) {
  write("file", "mine");
  expect_all_refused(
      programs::probe(),
      {
          {"no command", {}, "nodes or files"},
          {"no bytes", {"nodes", "--bytes", "0"}, "--bytes"},
          {"no block", {"nodes", "--block", "1"}, "--block"},
          {"a size that is none", {"files", "--file-size", "x"}, "--file-size"},
          {"files of more than memory", {"files", "--file-size", "2G"}, "--file-size"},
          {"no trials", {"files", "--trials", "0"}, "--trials"},
          {"an option of the other command", {"files", "--meetings", "1"}, "--meetings"},
          {"a file for a folder", {"files", "-o", "file"}, "file"},
          {"a record file that is none", {"nodes", "--json", "file"}, "file"},
      });
}

}  // namespace
}  // namespace slabmark
