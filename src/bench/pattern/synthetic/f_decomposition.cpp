#include "bench/pattern/synthetic/f_decomposition.hpp"

#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/curve.hpp"
#include "bench/pattern/synthetic/mesh.hpp"
#include "bench/pattern/synthetic/physics_chunks.hpp"
#include "bench/pattern/synthetic/rank_lists.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// How the curve runs over one face: element (i, j) has visiting number M[x, y] of
/// space_filling_curve(), where x is i or j and y the other, each possibly counted from the far
/// end.
struct FaceCurve {
  std::uint8_t face;
  bool x_is_j;
  bool x_reversed;
  bool y_reversed;
};

/// In the order in which the curve visits the faces.
constexpr std::array<FaceCurve, CubedSphere::faces> face_order = {{
    {0, false, false, true},
    {1, false, false, true},
    {5, false, true, true},
    {3, true, true, false},
    {4, false, false, false},
    {2, false, false, false},
}};

std::vector<std::uint32_t> rank_of_elements(const CubedSphere& mesh, std::uint64_t ranks) {
  const std::uint64_t ne = mesh.ne();
  const std::uint64_t face_size = ne * ne;
  const std::vector<std::uint32_t> curve = space_filling_curve(ne);
  std::vector<std::uint32_t> rank(mesh.element_count());

  std::uint64_t visited = 0;
  for (const FaceCurve& on : face_order) {
    for (std::uint64_t j = 0; j < ne; ++j) {
      for (std::uint64_t i = 0; i < ne; ++i) {
        const std::uint64_t x = on.x_is_j ? j : i;
        const std::uint64_t y = on.x_is_j ? i : j;
        const std::uint64_t number =
            curve[(on.x_reversed ? ne - 1 - x : x) * ne + (on.y_reversed ? ne - 1 - y : y)];
        rank[on.face * face_size + j * ne + i] = static_cast<std::uint32_t>(
            equal_range_of(visited + number, mesh.element_count(), ranks));
      }
    }
    visited += face_size;
  }
  return rank;
}

/// Elements own consecutive columns, so the owners of all columns follow from one pass over them.
std::vector<std::uint32_t> rank_of_columns(const CubedSphere& mesh,
                                           const std::vector<std::uint32_t>& element_rank) {
  std::vector<std::uint32_t> column_rank;
  column_rank.reserve(mesh.column_count());
  for (std::uint64_t element = 0; element < element_rank.size(); ++element) {
    column_rank.insert(column_rank.end(), mesh.owned(element).count(), element_rank[element]);
  }
  return column_rank;
}

/// The common part of the three maps.
struct AtmosphereModel {
  CubedSphere mesh;
  ChunkDeal deal;
  RankLists elements;
  RankLists chunks;
};

std::shared_ptr<const AtmosphereModel> build_model(std::uint64_t ne, std::uint64_t ranks,
                                                   TieBreak tie_break) {
  const CubedSphere mesh(ne);
  const ChunkDeal deal(mesh.column_count(), ranks);
  const auto element_rank = rank_of_elements(mesh, ranks);
  const auto column_rank = rank_of_columns(mesh, element_rank);
  const auto chunk_rank = assign_chunks(deal, column_rank, ranks, tie_break);
  return std::make_shared<const AtmosphereModel>(
      AtmosphereModel{mesh, deal, RankLists(element_rank, ranks), RankLists(chunk_rank, ranks)});
}

void visit_elements(const AtmosphereModel& model, std::uint64_t rank, const EntryVisitor& visit) {
  constexpr std::uint64_t side = CubedSphere::nodes_per_side;
  for (const std::uint32_t element : model.elements.items(rank)) {
    const CubedSphere::Owned owned = model.mesh.owned(element);
    std::array<std::uint64_t, CubedSphere::nodes_per_element> entries = {};
    std::uint64_t entry = owned.first_column + 1;
    for (std::uint64_t v = owned.v_begin; v < owned.v_end; ++v) {
      for (std::uint64_t u = owned.u_begin; u < owned.u_end; ++u) entries[v * side + u] = entry++;
    }
    visit(entries);
  }
}

void visit_chunks(const AtmosphereModel& model, std::uint64_t levels, std::uint64_t rank,
                  const EntryVisitor& visit) {
  const std::uint64_t columns = model.mesh.column_count();
  for (const std::uint32_t chunk : model.chunks.items(rank)) {
    std::array<std::uint64_t, ChunkDeal::slots> entries = {};
    std::uint64_t filled = 0;
    for (; filled < entries.size() && model.deal.column(chunk, filled) < columns; ++filled) {
      entries[filled] = model.deal.column(chunk, filled) + 1;
    }
    for (std::uint64_t level = 0; level < levels; ++level) {
      visit(entries);
      for (std::uint64_t slot = 0; slot < filled; ++slot) entries[slot] += columns;
    }
  }
}

SyntheticMap dynamics_map(std::shared_ptr<const AtmosphereModel> model) {
  return {"D1",
          {model->mesh.column_count()},
          model->elements.ranks(),
          [model](std::uint64_t rank) {
            return model->elements.items(rank).size() * CubedSphere::nodes_per_element;
          },
          [model](std::uint64_t rank, const EntryVisitor& visit) {
            visit_elements(*model, rank, visit);
          }};
}

SyntheticMap physics_map(std::string name, Extent dims, std::uint64_t levels,
                         std::shared_ptr<const AtmosphereModel> model) {
  return {std::move(name), std::move(dims), model->chunks.ranks(),
          [model, levels](std::uint64_t rank) {
            return model->chunks.items(rank).size() * levels * ChunkDeal::slots;
          },
          [model, levels](std::uint64_t rank, const EntryVisitor& visit) {
            visit_chunks(*model, levels, rank, visit);
          }};
}

void require_ranks(const CubedSphere& mesh, std::uint64_t ranks) {
  if (ranks == 0) throw InputError("A decomposition needs at least 1 rank, not 0.");
  if (ranks > mesh.element_count()) {
    throw InputError(fmt::format(
        "ne {} on {} ranks does not work: the mesh has only {} elements and every rank needs one; "
        "ask for at most {} ranks or for a larger ne.",
        mesh.ne(), ranks, mesh.element_count(), mesh.element_count()));
  }
}

}  // namespace

SyntheticDecomposition make_f_decomposition(std::uint64_t ne, std::uint64_t ranks,
                                            std::uint64_t levels, TieBreak tie_break) {
  require_curve_size(ne);
  const CubedSphere mesh(ne);
  require_ranks(mesh, ranks);
  if (levels == 0) throw InputError("The atmosphere needs at least 1 level, not 0.");
  const Extent column_dims = {mesh.column_count()};
  const Extent level_dims = {levels, mesh.column_count()};
  element_count(level_dims);  // throws if offsets would not fit

  const auto model = build_model(ne, ranks, tie_break);
  return {fmt::format("F ne{}", ne),
          ranks,
          {dynamics_map(model), physics_map("D2", column_dims, 1, model),
           physics_map("D3", level_dims, levels, model)}};
}

}  // namespace slabmark
