/* gaussian A sx sy sz: A exp(-((x-x0)^2/sx^2 + (y-y0)^2/sy^2 + (z-z0)^2/sz^2)) over the whole
   domain, centred in it; x, y, z count elements from 0. The exponential is taken as the product of
   one for each direction, in both entries, so that they give the same bits: a block then needs as
   many exponentials as it has planes in the three directions, not as it has elements. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fill_function.h"

fill_element_function gaussian;
fill_block_function gaussian_block;
fill_prepare_function gaussian_prepare;

enum { argument_count = 4 };

static double factor(fill_size_t global, fill_size_t length, double sigma) {
  const double distance = (double)global - 0.5 * (double)length;
  return exp(-distance * distance / (sigma * sigma));
}

float gaussian(int mpi_rank, fill_size_t* system_size, fill_size_t* domain_block_size,
               fill_size_t* domain_block_number, fill_size_t* position_in_block, int argc,
               char** argv) {
  (void)mpi_rank, (void)argc;
  double value = atof(argv[0]);
  for (int d = 0; d < 3; ++d) {
    const fill_size_t global = domain_block_number[d] * domain_block_size[d] + position_in_block[d];
    value *= factor(global, system_size[d] * domain_block_size[d], atof(argv[1 + d]));
  }
  return (float)value;
}

int gaussian_block(int mpi_rank, const fill_size_t* system_size,
                   const fill_size_t* domain_block_size, const fill_size_t* domain_block_number,
                   const fill_size_t* start, const fill_size_t* count, int argc, char** argv,
                   float* values) {
  (void)mpi_rank, (void)argc;
  double* factors = malloc((count[0] + count[1] + count[2]) * sizeof *factors);
  if (factors == NULL) return 1;
  double* of[3] = {factors, factors + count[0], factors + count[0] + count[1]};
  for (int d = 0; d < 3; ++d) {
    const double sigma = atof(argv[1 + d]);
    const fill_size_t first = domain_block_number[d] * domain_block_size[d] + start[d];
    const fill_size_t length = system_size[d] * domain_block_size[d];
    for (fill_size_t i = 0; i < count[d]; ++i) of[d][i] = factor(first + i, length, sigma);
  }
  const double amplitude = atof(argv[0]);
  for (fill_size_t x = 0; x < count[0]; ++x) {
    for (fill_size_t y = 0; y < count[1]; ++y) {
      const double row = amplitude * of[0][x] * of[1][y];
      for (fill_size_t z = 0; z < count[2]; ++z) *values++ = (float)(row * of[2][z]);
    }
  }
  free(factors);
  return 0;
}

int gaussian_prepare(const fill_size_t* system_size, const fill_size_t* domain_block_size, int argc,
                     char** argv, char* message, size_t message_size) {
  (void)system_size, (void)domain_block_size;
  if (argc < argument_count) {
    snprintf(message, message_size,
             "gaussian takes 4 arguments, the amplitude and a width for x, y and z, but got %d",
             argc);
    return 1;
  }
  for (int i = 0; i < argument_count; ++i) {
    char* end = argv[i];
    const double value = strtod(argv[i], &end);
    if (end != argv[i] && *end == '\0' && isfinite(value) && (i == 0 || value != 0)) continue;
    snprintf(message, message_size, "argument %d of gaussian is \"%s\", which is no %s", i, argv[i],
             i == 0 ? "number" : "width other than 0");
    return 1;
  }
  return 0;
}
