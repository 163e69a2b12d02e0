#include "program/slabmark-blob/convert.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/buffers.hpp"
#include "method/open_file.hpp"
#include "method/raw/blob_pattern.hpp"
#include "parallel/agree.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark::blob_program {

void convert(const Comm& comm, const std::string& input, const std::string& output,
             const MethodInfo& info, const Settings& settings, PhaseClock& clock) {
  std::unique_ptr<BlobPattern> content;
  agreed(comm, [&] { content = std::make_unique<BlobPattern>(comm, input); });
  const Pattern& pattern = content->pattern();
  agreed(comm, [&] {
    if (const auto reason = info.supports(pattern, settings)) {
      throw InputError(fmt::format("Method {} cannot write '{}': {}.", info.name, input, *reason));
    }
  });
  mpiio::TrialFile file(comm, output);
  OpenFile written(info, {comm, pattern, Direction::write, settings, clock});
  written.begin(output);
  Buffers buffers;
  agreed(comm, [&] { buffers.fit(pattern); });
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    const auto memory = buffers.lay_out(pattern, make_group(pattern, round, 1));
    // Not in the method's phase, since some methods talk in post(), and a rank that cannot read
    // must not be waited for.
    agreed(comm, [&] { content->read(round, memory); });
    const std::span<std::byte* const> posted[] = {memory};
    written.move(round, posted);
  }
  written.end();
  file.keep();
}

}  // namespace slabmark::blob_program
