#include "bench/pattern/synthetic/g_decomposition.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/bisection.hpp"
#include "bench/pattern/synthetic/hex_mesh.hpp"
#include "bench/pattern/synthetic/rank_lists.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t max_cells = std::uint64_t{1} << 28;

/// The parts of the mesh; each belongs to a cell, and so to the rank of that.
enum class Kind { cell, edge, vertex };

struct Items {
  Kind kind = Kind::cell;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> of_rank;  ///< how many each rank has
  std::vector<std::uint32_t> number;   ///< by mesh index; of cells that is the number
};

struct OceanModel {
  HexMesh mesh;
  RankLists cells_of_rank;
  Items cells;
  Items edges;
  Items vertices;
};

/// Visits the mesh indices of what belongs to a cell.
template <class Visit>
void for_each_of_cell(const HexMesh& mesh, Kind kind, std::uint32_t cell, const Visit& visit) {
  if (kind == Kind::edge) return mesh.for_each_owned_edge(cell, visit);
  if (kind == Kind::vertex) return mesh.for_each_owned_vertex(cell, visit);
  visit(std::uint64_t{cell});
}

std::vector<Point> points_of(const HexMesh& mesh) {
  std::vector<Point> points(mesh.cell_count());
  for (std::uint32_t cell = 0; cell < points.size(); ++cell) points[cell] = mesh.point(cell);
  return points;
}

Items number_items(Kind kind, const HexMesh& mesh, const std::vector<std::uint32_t>& cell_rank,
                   std::uint64_t ranks, Locality locality, RandomStream& random) {
  Items items{kind, 0, std::vector<std::uint64_t>(ranks, 0), {}};
  std::vector<std::uint64_t> indices;
  for (std::uint32_t cell = 0; cell < mesh.cell_count(); ++cell) {
    for_each_of_cell(mesh, kind, cell, [&](std::uint64_t index) {
      indices.push_back(index);
      ++items.of_rank[cell_rank[cell]];
    });
  }
  items.count = indices.size();
  if (kind == Kind::cell) return items;
  const bool edges = kind == Kind::edge;
  (edges ? order_edges : order_vertices)(indices, locality, random);
  items.number.assign(edges ? mesh.edge_index_end() : mesh.vertex_index_end(), 0);
  for (std::uint32_t i = 0; i < indices.size(); ++i) items.number[indices[i]] = i;
  return items;
}

std::shared_ptr<const OceanModel> build_model(std::uint64_t cells, std::uint64_t ranks,
                                              const OceanOptions& options) {
  RandomStream random(options.seed);
  HexMesh mesh(cells, random.next());
  mesh.renumber(order_cells(points_of(mesh), options.locality, random));
  const auto cell_rank = bisect(points_of(mesh), ranks, options.imbalance, random);
  const auto number = [&](Kind kind) {
    return number_items(kind, mesh, cell_rank, ranks, options.locality, random);
  };
  Items on_cells = number(Kind::cell);
  Items edges = number(Kind::edge);
  Items vertices = number(Kind::vertex);
  return std::make_shared<const OceanModel>(OceanModel{std::move(mesh), RankLists(cell_rank, ranks),
                                                       std::move(on_cells), std::move(edges),
                                                       std::move(vertices)});
}

/// Visits a row of `row_length` entries for each of the rank's items.
void visit_items(const OceanModel& model, const Items& items, std::uint64_t row_length,
                 std::uint64_t rank, const EntryVisitor& visit) {
  std::vector<std::uint64_t> row(row_length);
  for (const std::uint32_t cell : model.cells_of_rank.items(rank)) {
    for_each_of_cell(model.mesh, items.kind, cell, [&](std::uint64_t index) {
      const std::uint64_t number = items.number.empty() ? index : items.number[index];
      std::iota(row.begin(), row.end(), number * row_length + 1);
      visit(row);
    });
  }
}

/// A map over `items`, with `levels` of each or, for 0, without such a dimension.
SyntheticMap ocean_map(std::string name, Items OceanModel::*items, std::uint64_t levels,
                       std::shared_ptr<const OceanModel> model) {
  Extent dims = {((*model).*items).count};
  if (levels > 0) dims.push_back(levels);
  element_count(dims);  // throws if offsets would not fit
  const std::uint64_t row_length = std::max<std::uint64_t>(levels, 1);
  return {std::move(name), std::move(dims), model->cells_of_rank.ranks(),
          [model, items, row_length](std::uint64_t rank) {
            return ((*model).*items).of_rank[rank] * row_length;
          },
          [model, items, row_length](std::uint64_t rank, const EntryVisitor& visit) {
            visit_items(*model, (*model).*items, row_length, rank, visit);
          }};
}

void require_valid(std::uint64_t cells, std::uint64_t ranks, const OceanOptions& options) {
  if (ranks == 0) throw InputError("A decomposition needs at least 1 rank, not 0.");
  if (cells > max_cells) {
    throw InputError(fmt::format(
        "An ocean of {} cells is too large: the generator makes at most {}.", cells, max_cells));
  }
  if (ranks > cells / 2) {
    throw InputError(fmt::format(
        "{} ocean cells on {} ranks do not work: every rank needs at least two cells; ask for at "
        "most {} ranks or for more cells.",
        cells, ranks, cells / 2));
  }
  if (options.levels == 0) throw InputError("The ocean needs at least 1 level, not 0.");
  if (!(options.imbalance >= 0.0 && options.imbalance <= 0.5)) {
    throw InputError(
        fmt::format("An imbalance of {} does not work: it is a fraction between 0 and 0.5.",
                    options.imbalance));
  }
}

}  // namespace

SyntheticDecomposition make_g_decomposition(std::uint64_t cells, std::uint64_t ranks,
                                            const OceanOptions& options) {
  require_valid(cells, ranks, options);
  const auto model = build_model(cells, ranks, options);
  const std::uint64_t levels = options.levels;
  return {
      fmt::format("G {} cells", cells),
      ranks,
      {ocean_map("D1", &OceanModel::cells, 0, model), ocean_map("D2", &OceanModel::edges, 0, model),
       ocean_map("D3", &OceanModel::cells, levels, model),
       ocean_map("D4", &OceanModel::edges, levels, model),
       ocean_map("D5", &OceanModel::vertices, levels, model),
       ocean_map("D6", &OceanModel::cells, levels + 1, model)}};
}

}  // namespace slabmark
