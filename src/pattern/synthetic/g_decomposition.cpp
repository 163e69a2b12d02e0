#include "pattern/synthetic/g_decomposition.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "pattern/synthetic/bisection.hpp"
#include "pattern/synthetic/hex_mesh.hpp"
#include "pattern/synthetic/rank_lists.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t max_cells = std::uint64_t{1} << 28;

/// Edges or vertices: their numbers by mesh index, and how many each rank has.
struct Features {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> number;
  std::vector<std::uint64_t> of_rank;
};

struct Model {
  HexMesh mesh;
  RankLists cells;
  Features edges;
  Features vertices;
};

std::vector<Point> points_of(const HexMesh& mesh) {
  std::vector<Point> points(mesh.cell_count());
  for (std::uint32_t cell = 0; cell < points.size(); ++cell) points[cell] = mesh.point(cell);
  return points;
}

/// `indices` in the order of their numbers.
std::vector<std::uint32_t> numbers_by_index(const std::vector<std::uint64_t>& indices,
                                            std::uint64_t index_end) {
  std::vector<std::uint32_t> number(index_end, 0);
  for (std::uint32_t i = 0; i < indices.size(); ++i) number[indices[i]] = i;
  return number;
}

Features number_edges(const HexMesh& mesh, const std::vector<std::uint32_t>& cell_rank,
                      std::uint64_t ranks, Locality locality, RandomStream& random) {
  Features edges;
  edges.of_rank.assign(ranks, 0);
  std::vector<std::uint64_t> indices;
  for (std::uint32_t cell = 0; cell < mesh.cell_count(); ++cell) {
    mesh.for_each_owned_edge(cell, [&](std::uint64_t index) {
      indices.push_back(index);
      ++edges.of_rank[cell_rank[cell]];
    });
  }
  order_edges(indices, locality, random);
  edges.count = indices.size();
  edges.number = numbers_by_index(indices, mesh.edge_index_end());
  return edges;
}

Features number_vertices(const HexMesh& mesh, const std::vector<std::uint32_t>& cell_rank,
                         std::uint64_t ranks, Locality locality, RandomStream& random) {
  Features vertices;
  vertices.of_rank.assign(ranks, 0);
  std::vector<std::uint64_t> indices;
  for (std::uint32_t cell = 0; cell < mesh.cell_count(); ++cell) {
    mesh.for_each_owned_vertex(cell, [&](std::uint64_t index) {
      indices.push_back(index);
      ++vertices.of_rank[cell_rank[cell]];
    });
  }
  order_vertices(indices, locality, random);
  vertices.count = indices.size();
  vertices.number = numbers_by_index(indices, mesh.vertex_index_end());
  return vertices;
}

std::shared_ptr<const Model> build_model(std::uint64_t cells, std::uint64_t ranks,
                                         const OceanOptions& options) {
  RandomStream random(options.seed);
  HexMesh mesh(cells, random.next());
  mesh.renumber(order_cells(points_of(mesh), options.locality, random));
  const auto cell_rank = bisect(points_of(mesh), ranks, options.imbalance, random);
  Features edges = number_edges(mesh, cell_rank, ranks, options.locality, random);
  Features vertices = number_vertices(mesh, cell_rank, ranks, options.locality, random);
  return std::make_shared<const Model>(
      Model{std::move(mesh), RankLists(cell_rank, ranks), std::move(edges), std::move(vertices)});
}

/// Emits the rows of `row_length` entries that belong to item numbers.
class RowEmitter {
 public:
  RowEmitter(std::uint64_t row_length, const EntryVisitor& visit)
      : visit_(visit), row_(row_length) {}

  void emit(std::uint64_t number) {
    std::uint64_t entry = number * row_.size() + 1;
    for (std::uint64_t& slot : row_) slot = entry++;
    visit_(row_);
  }

 private:
  const EntryVisitor& visit_;
  std::vector<std::uint64_t> row_;
};

void emit_cells(const Model& model, std::uint64_t rank, RowEmitter& rows) {
  for (const std::uint32_t cell : model.cells.items(rank)) rows.emit(cell);
}

void emit_edges(const Model& model, std::uint64_t rank, RowEmitter& rows) {
  for (const std::uint32_t cell : model.cells.items(rank)) {
    model.mesh.for_each_owned_edge(
        cell, [&](std::uint64_t index) { rows.emit(model.edges.number[index]); });
  }
}

void emit_vertices(const Model& model, std::uint64_t rank, RowEmitter& rows) {
  for (const std::uint32_t cell : model.cells.items(rank)) {
    model.mesh.for_each_owned_vertex(
        cell, [&](std::uint64_t index) { rows.emit(model.vertices.number[index]); });
  }
}

std::uint64_t count_cells(const Model& model, std::uint64_t rank) {
  return model.cells.items(rank).size();
}

std::uint64_t count_edges(const Model& model, std::uint64_t rank) {
  return model.edges.of_rank[rank];
}

std::uint64_t count_vertices(const Model& model, std::uint64_t rank) {
  return model.vertices.of_rank[rank];
}

/// What a map is over: its number of items, and those of a rank.
struct Items {
  std::uint64_t total;
  std::uint64_t (*count)(const Model&, std::uint64_t rank);
  void (*emit)(const Model&, std::uint64_t rank, RowEmitter& rows);
};

SyntheticMap ocean_map(std::string name, Extent dims, const Items& items,
                       std::shared_ptr<const Model> model) {
  element_count(dims);  // throws if offsets would not fit
  const std::uint64_t row_length = dims.size() == 1 ? 1 : dims.back();
  SyntheticMap map;
  map.name = std::move(name);
  map.dims = std::move(dims);
  map.ranks = model->cells.ranks();
  map.entry_count = [model, items, row_length](std::uint64_t rank) {
    return items.count(*model, rank) * row_length;
  };
  map.visit = [model, items, row_length](std::uint64_t rank, const EntryVisitor& visit) {
    RowEmitter rows(row_length, visit);
    items.emit(*model, rank, rows);
  };
  return map;
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
  const Items on_cells = {cells, count_cells, emit_cells};
  const Items on_edges = {model->edges.count, count_edges, emit_edges};
  const Items on_vertices = {model->vertices.count, count_vertices, emit_vertices};
  const std::uint64_t levels = options.levels;
  return {fmt::format("G {} cells", cells),
          ranks,
          {ocean_map("D1", {on_cells.total}, on_cells, model),
           ocean_map("D2", {on_edges.total}, on_edges, model),
           ocean_map("D3", {on_cells.total, levels}, on_cells, model),
           ocean_map("D4", {on_edges.total, levels}, on_edges, model),
           ocean_map("D5", {on_vertices.total, levels}, on_vertices, model),
           ocean_map("D6", {on_cells.total, levels + 1}, on_cells, model)}};
}

}  // namespace slabmark
