#include <utility>

#include "bench/pattern/synthetic/g_decomposition.hpp"
#include "bench/pattern/workload/makers.hpp"

// The stream "output" of MPAS-Ocean, which begins with all of the mesh: src/core_ocean/Registry.xml
// of MPAS-Model, without the variables of analysis members and of tracers other than the active
// ones. The mesh is generated: hexagons with coasts, in compact blocks.

namespace slabmark::workload {

namespace {

/// The cells, edges and vertices of a rank, and how many there are in all.
class MeshShare {
 public:
  MeshShare(const SyntheticDecomposition& mesh, std::uint64_t rank) {
    enter("nCells", mesh.maps[0], rank);
    enter("nEdges", mesh.maps[1], rank);
    enter("nVertices", mesh.maps[4], rank);
  }

  const NamedLengths& lengths() const { return lengths_; }

  /// Of each item of the rank a row of an array whose first dimension is `items`.
  SelectionPtr rows(const std::string& items, Extent extent) const {
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < extent.size(); ++d) row *= extent[d];
    RunList runs;
    for (const Run& run : items_.at(items)) runs.push_back({run.offset * row, run.length * row});
    const std::uint64_t fastest = extent.back();
    return select_row_runs(std::move(extent), split_at_rows(runs, fastest));
  }

 private:
  /// `map` has one element for each item.
  void enter(const std::string& items, const SyntheticMap& map, std::uint64_t rank) {
    lengths_[items] = element_count(map.dims);
    RunList runs = model_order_runs(map, rank);
    sort_runs(runs);
    coalesce(runs);
    items_[items] = std::move(runs);
  }

  NamedLengths lengths_;
  std::map<std::string, RunList> items_;
};

}  // namespace

WorkloadParts mpas(const WorkloadSizes& sizes, std::uint64_t ranks) {
  OceanOptions options;
  options.levels = 1;  // of vertices, which have no map of their own without
  OutputTable table = find_workload_table("mpas");
  table.dimensions["nVertLevels"].plus = sizes.levels;
  return {
      [table, sizes, mesh = make_g_decomposition(sizes.cells, ranks, options)](std::uint64_t rank) {
        const MeshShare mine(mesh, rank);
        OutputShare share;
        share.is_first = rank == 0;
        share.records = sizes.steps;
        for (const auto& dimensions : table.maps) {
          Extent extent;
          for (const auto& dimension : dimensions) {
            extent.push_back(length_of(table, dimension, mine.lengths()));
          }
          element_count(extent);  // throws where offsets would not fit
          share.maps.push_back(mine.rows(dimensions.front(), std::move(extent)));
        }
        return make_output_pattern(table, share);
      }};
}

}  // namespace slabmark::workload
