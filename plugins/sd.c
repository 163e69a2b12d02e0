/* sd FILE: the samples of one block from a file of raw float32, in the order of the machine, x
   being the fastest there (and the slowest in the dataset). Every process gets the same samples. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fill_function.h"

fill_element_function sd;
fill_block_function sd_block;
fill_prepare_function sd_prepare;

/* The file last read stays in memory, for the function is called once an element. */
static float* samples = NULL;
static fill_size_t sample_count = 0;
static char* loaded_path = NULL;

__attribute__((destructor)) static void forget(void) {
  free(samples);
  free(loaded_path);
  samples = NULL;
  loaded_path = NULL;
}

static int load(const char* path) {
  if (loaded_path != NULL && strcmp(loaded_path, path) == 0) return 1;
  forget();
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  long bytes = -1;
  if (fseek(file, 0, SEEK_END) == 0) bytes = ftell(file);
  int good = bytes >= 0 && fseek(file, 0, SEEK_SET) == 0;
  if (good) {
    sample_count = (fill_size_t)bytes / sizeof *samples;
    samples = malloc(sample_count * sizeof *samples + 1);
    good = samples != NULL && fread(samples, sizeof *samples, sample_count, file) == sample_count;
  }
  fclose(file);
  if (good) loaded_path = malloc(strlen(path) + 1);
  if (loaded_path == NULL) {
    forget();
    return 0;
  }
  strcpy(loaded_path, path);
  return 1;
}

static float sample(const fill_size_t* size, fill_size_t x, fill_size_t y, fill_size_t z) {
  return samples[(z * size[1] + y) * size[0] + x];
}

float sd(int mpi_rank, fill_size_t* system_size, fill_size_t* domain_block_size,
         fill_size_t* domain_block_number, fill_size_t* position_in_block, int argc, char** argv) {
  (void)mpi_rank, (void)system_size, (void)domain_block_number, (void)argc;
  if (!load(argv[0])) return 0.0f;
  return sample(domain_block_size, position_in_block[0], position_in_block[1],
                position_in_block[2]);
}

int sd_block(int mpi_rank, const fill_size_t* system_size, const fill_size_t* domain_block_size,
             const fill_size_t* domain_block_number, const fill_size_t* start,
             const fill_size_t* count, int argc, char** argv, float* values) {
  (void)mpi_rank, (void)system_size, (void)domain_block_number, (void)argc;
  if (!load(argv[0])) return 1;
  for (fill_size_t x = start[0]; x < start[0] + count[0]; ++x) {
    for (fill_size_t y = start[1]; y < start[1] + count[1]; ++y) {
      for (fill_size_t z = start[2]; z < start[2] + count[2]; ++z) {
        *values++ = sample(domain_block_size, x, y, z);
      }
    }
  }
  return 0;
}

int sd_prepare(const fill_size_t* system_size, const fill_size_t* domain_block_size, int argc,
               char** argv, char* message, size_t message_size) {
  (void)system_size;
  if (argc < 1) {
    snprintf(message, message_size, "sd takes 1 argument, a file of raw float32, but got none");
    return 1;
  }
  if (!load(argv[0])) {
    snprintf(message, message_size, "sd cannot read the file \"%s\"", argv[0]);
    return 1;
  }
  const fill_size_t needed = domain_block_size[0] * domain_block_size[1] * domain_block_size[2];
  if (sample_count < needed) {
    snprintf(message, message_size,
             "the file \"%s\" holds %llu float32 numbers, and a block needs %llu", argv[0],
             (unsigned long long)sample_count, (unsigned long long)needed);
    return 1;
  }
  return 0;
}
