#include "bench/method/hdf5/plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "bench/pattern/transfer_pieces.hpp"
#include "core/geometry/run.hpp"
#include "storage/hdf5/union.hpp"

namespace slabmark {

namespace {

/// The runs of all hyperslabs, those that touch merged, in the order of the selection; nothing if
/// they are more than the hyperslabs. Stops there: a hyperslab of few numbers may have millions of
/// runs.
std::optional<RunList> few_runs(const Selection& selection) {
  RunList runs;
  Hyperslab slab;
  RunWalk walk;
  Run run;
  for (std::uint64_t i = 0; i < selection.hyperslab_count(); ++i) {
    selection.hyperslab(i, slab);
    walk.restart(slab, selection.extent());
    while (walk.next(run)) {
      append(runs, run);
      if (runs.size() > selection.hyperslab_count()) return std::nullopt;
    }
  }
  return runs;
}

/// The elements that the selection covers, ascending, every element once.
RunList covered(const Selection& selection) {
  RunList runs;
  selection.for_each_run([&](Run run) { append(runs, run); });
  sort_runs(runs);
  std::size_t kept = 0;
  for (const auto run : runs) {
    if (run.length == 0) continue;
    if (kept > 0 && run.offset <= runs[kept - 1].end()) {
      runs[kept - 1].length = std::max(runs[kept - 1].end(), run.end()) - runs[kept - 1].offset;
    } else {
      runs[kept++] = run;
    }
  }
  runs.resize(kept);
  return runs;
}

void plan_permutation(const Transfer& transfer, Hdf5Plan& plan) {
  const auto runs = covered(*transfer.file);
  std::vector<std::uint64_t> before(runs.size());  // elements of all runs in front
  for (std::size_t i = 0; i < runs.size(); ++i) {
    before[i] = plan.dense_elements;
    plan.dense_elements += runs[i].length;
  }
  plan.copies.reserve(transfer.file->hyperslab_count());
  for_each_piece(transfer, [&](const Piece& piece) {
    // A piece is contiguous in the file, so it lies in one run.
    const auto after = std::upper_bound(runs.begin(), runs.end(), piece.file,
                                        [](auto offset, Run run) { return offset < run.offset; });
    const auto i = static_cast<std::size_t>(after - runs.begin()) - 1;
    const auto dense = before[i] + piece.file - runs[i].offset;
    if (!plan.copies.empty()) {
      auto& last = plan.copies.back();
      if (last.dense + last.length == dense && last.buffer + last.length == piece.buffer) {
        last.length += piece.length;
        return;
      }
    }
    plan.copies.push_back({dense, piece.buffer, piece.length});
  });
  plan.copies.shrink_to_fit();
  plan.memory = line_of(plan.dense_elements);
}

}  // namespace

void Hdf5Plan::gather(const std::byte* buffer, std::byte* dense, std::size_t element_bytes) const {
  for (const auto& copy : copies) {
    std::memcpy(dense + copy.dense * element_bytes, buffer + copy.buffer * element_bytes,
                copy.length * element_bytes);
  }
}

void Hdf5Plan::scatter(const std::byte* dense, std::byte* buffer, std::size_t element_bytes) const {
  for (const auto& copy : copies) {
    std::memcpy(buffer + copy.buffer * element_bytes, dense + copy.dense * element_bytes,
                copy.length * element_bytes);
  }
}

hdf5::Space line_of(std::uint64_t elements) {
  hdf5::Space line(Extent{std::max<std::uint64_t>(1, elements)});
  if (elements == 0) line.select_none();
  return line;
}

hdf5::Space union_of(const Selection& selection, bool leading_time) {
  hdf5::UnionBuilder builder(selection.extent(), leading_time);
  auto runs = few_runs(selection);
  if (runs) {
    if (!selection.ascending()) {
      sort_runs(*runs);
      coalesce(*runs);
    }
    for_each_row_box(*runs, selection.extent(), [&](const Hyperslab& box) { builder.add(box); });
  } else {
    Hyperslab slab;
    for (std::uint64_t i = 0; i < selection.hyperslab_count(); ++i) {
      selection.hyperslab(i, slab);
      builder.add(slab);
    }
  }
  return builder.finish();
}

void plan_memory_of_union(const Transfer& transfer, Hdf5Plan& plan) {
  if (transfer.file->element_count() == 0) {
    plan.memory = line_of(0);
  } else if (!transfer.file->ascending()) {
    plan_permutation(transfer, plan);
  } else if (!transfer.buffer && transfer.file->hyperslab_count() == 1) {
    Hyperslab slab;
    transfer.file->hyperslab(0, slab);
    plan.memory = line_of(1);
    plan.memory.become_dense(slab, false);
  } else if (!transfer.buffer) {
    plan.memory = line_of(transfer.file->element_count());
  } else if (transfer.buffer->ascending()) {
    plan.memory = union_of(*transfer.buffer, false);
  } else {
    plan_permutation(transfer, plan);
  }
}

Hdf5Plan plan_of_union(const Transfer& transfer, bool leading_time) {
  Hdf5Plan plan;
  plan.file = union_of(*transfer.file, leading_time);
  plan_memory_of_union(transfer, plan);
  return plan;
}

}  // namespace slabmark
