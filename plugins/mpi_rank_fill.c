/* Every element is the rank of its owner: what seism-core-slice writes without a plugin. */

#include "fill_function.h"

fill_element_function mpi_rank_fill;
fill_block_function mpi_rank_fill_block;

float mpi_rank_fill(int mpi_rank, fill_size_t* system_size, fill_size_t* domain_block_size,
                    fill_size_t* domain_block_number, fill_size_t* position_in_block, int argc,
                    char** argv) {
  (void)system_size, (void)domain_block_size, (void)domain_block_number, (void)position_in_block;
  (void)argc, (void)argv;
  return (float)mpi_rank;
}

int mpi_rank_fill_block(int mpi_rank, const fill_size_t* system_size,
                        const fill_size_t* domain_block_size,
                        const fill_size_t* domain_block_number, const fill_size_t* start,
                        const fill_size_t* count, int argc, char** argv, float* values) {
  (void)system_size, (void)domain_block_size, (void)domain_block_number, (void)start;
  (void)argc, (void)argv;
  const fill_size_t elements = count[0] * count[1] * count[2];
  for (fill_size_t i = 0; i < elements; ++i) values[i] = (float)mpi_rank;
  return 0;
}
