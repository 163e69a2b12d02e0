#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "accel/slices/output.hpp"
#include "core/parallel/comm.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::slice {

inline constexpr std::uint64_t halo_of_grid = 2;

inline double value(std::uint64_t field, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                    std::uint64_t step) {
  return static_cast<double>(((field * 100 + z) * 100 + y) * 100 + x) +
         static_cast<double>(step) * 0.25;
}

/// Added to what lies in the halos at a block's low end of x, so that none is taken for a point.
inline constexpr double in_halo = 0.5;

/// The blocks of this rank, and what belongs to a declaration of them.
class Simulation {
 public:
  Simulation(const Comm& comm, BlockedField grid, std::uint64_t fields) : comm_(comm), grid_(grid) {
    shape_ = block_with_halo(grid, rank());
    blocks_.assign(fields, std::vector<double>(shape_[0] * shape_[1] * shape_[2]));
    declaration.grid = grid;
    for (std::uint64_t f = 0; f < fields; ++f) {
      const double* block = blocks_[f].data();
      declaration.fields.emplace_back(fmt::format("f{}", f), block);
    }
  }

  void set(std::uint64_t step) {
    const auto inside = parts_of(grid_, whole_field(grid_), rank());
    for (std::uint64_t f = 0; f < blocks_.size(); ++f) {
      auto* at = blocks_[f].data();
      for (std::uint64_t z = 0; z < shape_[2]; ++z) {
        for (std::uint64_t y = 0; y < shape_[1]; ++y) {
          for (std::uint64_t x = 0; x < shape_[0]; ++x) {
            // Wraps around in the halos before the field.
            *at++ = value(f, x + inside[0].file - grid_.halo, y + inside[1].file - grid_.halo,
                          z + inside[2].file - grid_.halo, step) +
                    (x < grid_.halo ? in_halo : 0.0);
          }
        }
      }
    }
  }

  const std::vector<std::vector<double>>& blocks() const { return blocks_; }

  Declaration declaration;

 private:
  std::uint64_t rank() const { return static_cast<std::uint64_t>(comm_.rank()); }

  const Comm& comm_;
  BlockedField grid_;
  std::array<std::uint64_t, 3> shape_{};
  std::vector<std::vector<double>> blocks_;
};

/// Writes the steps from 0 to `steps` at times of the same numbers.
template <class AnySimulation>
void write_steps(Output& output, AnySimulation& simulation, std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    simulation.set(step);
    output.write(step, static_cast<double>(step));
  }
}

/// What a file must hold of one output, in its order.
inline std::vector<double> due(const Slice& slice, std::uint64_t field, std::uint64_t step) {
  std::vector<double> values;
  const auto before = slice.with_halos ? halo_of_grid : 0;
  const auto& [xs, ys, zs] = slice.ranges;
  for (auto z = zs.begin; z < zs.end; z += zs.stride) {
    for (auto y = ys.begin; y < ys.end; y += ys.stride) {
      for (auto x = xs.begin; x < xs.end; x += xs.stride) {
        values.push_back(value(field, x - before, y - before, z - before, step) +
                         (x < before ? in_halo : 0.0));
      }
    }
  }
  return values;
}

inline std::vector<double> read(const std::string& path, const std::string& dataset) {
  const auto file = hdf5::File::open_serial(path);
  auto data = file.open_dataset(dataset, ElementType::float64);
  auto space = data.space();
  space.select_all();
  std::vector<double> values(element_count(space.extent()));
  data.read(space, space, hdf5::TransferList(hdf5::TransferList::Mode::serial), values.data());
  return values;
}

/// On root: an appended file holds `steps` outputs of the cut, and no more.
inline void expect_appended(const std::string& path, const Cut& cut, std::uint64_t fields,
                            const std::vector<std::uint64_t>& steps) {
  std::vector<double> times(steps.begin(), steps.end());
  EXPECT_EQ(read(path, "time"), times);
  for (std::uint64_t f = 0; f < fields; ++f) {
    std::vector<double> all;
    for (const auto step : steps) {
      const auto one = due(cut.slice, f, step);
      all.insert(all.end(), one.begin(), one.end());
    }
    EXPECT_EQ(read(path, fmt::format("VTKHDF/PointData/f{}", f)), all) << path;
  }
}

/// On root: the files of a declaration hold what is due after `steps` steps, each of which was
/// written if due.
inline void expect_files(const Declaration& declaration, std::uint64_t steps) {
  const auto fields = declaration.fields.size();
  for (const auto& cut : declaration.cuts) {
    const auto stem = declaration.prefix + cut.slice.name;
    std::vector<std::uint64_t> written;
    for (std::uint64_t step = 0; step < steps; step += cut.every) written.push_back(step);
    if (declaration.mode == FileMode::append) {
      expect_appended(stem + ".vtkhdf", cut, fields, written);
      continue;
    }
    for (const auto step : written) {
      const auto path = fmt::format("{}_{:06}.vtkhdf", stem, step);
      EXPECT_EQ(read(path, "time"), std::vector<double>{static_cast<double>(step)});
      for (std::uint64_t f = 0; f < fields; ++f) {
        EXPECT_EQ(read(path, fmt::format("VTKHDF/PointData/f{}", f)), due(cut.slice, f, step))
            << path;
      }
    }
  }
}

inline BlockedField grid_of(const Comm& comm) {
  std::array<int, 3> processes{};
  MPI_Dims_create(comm.size(), 3, processes.data());
  BlockedField grid;
  grid.points = {13, 11, 9};
  grid.halo = halo_of_grid;
  for (std::size_t i = 0; i < 3; ++i) grid.processes[i] = static_cast<std::uint64_t>(processes[i]);
  return grid;
}

inline Slice strided(const BlockedField& grid, std::array<std::uint64_t, 3> stride) {
  auto all = whole_field(grid);
  for (std::size_t axis = 0; axis < 3; ++axis) all.ranges[axis].stride = stride[axis];
  return all;
}

}  // namespace slabmark::slice
