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
          {"no bytes", {"nodes", "--pair-bytes", "0"}, "--pair-bytes"},
          {"no block", {"nodes", "--request-size", "1"}, "--request-size"},
          {"a size that is none", {"files", "--file-size", "x"}, "--file-size"},
          {"files of more than memory", {"files", "--file-size", "2G"}, "--file-size"},
          {"no trials", {"files", "--trials", "0"}, "--trials"},
          {"an option of the other command", {"files", "--meetings", "1"}, "--meetings"},
          {"a file for a folder", {"files", "-d", "file"}, "file"},
          {"a record file that is none", {"nodes", "--json", "file"}, "file"},
      });
}

}  // namespace
}  // namespace slabmark
