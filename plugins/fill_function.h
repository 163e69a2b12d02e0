/** @file
 * The functions that a library of fill functions exports for seism-core-slice.
 *
 * NAME stands for the name that use_function_name gives. A block is the part of the domain that one
 * process owns. Positions and lengths are (x, y, z), and z varies fastest. The header is plain C
 * and does not need HDF5. */
#ifndef SLABMARK_FILL_FUNCTION_H
#define SLABMARK_FILL_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

/** The same integer as hsize_t of HDF5. */
typedef uint64_t fill_size_t;

/** The required function `NAME`: returns the value of one element.
 *
 * - `mpi_rank`: the process that owns the block
 * - `system_size`: number of blocks in each direction
 * - `domain_block_size`: elements of a block in each direction
 * - `domain_block_number`: (x, y, z) of the block among the blocks
 * - `position_in_block`: (x, y, z) of the element in its block
 * - `argc`, `argv`: use_function_argc and use_function_argv; argv[0] is the first argument */
typedef float fill_element_function(int mpi_rank, fill_size_t* system_size,
                                    fill_size_t* domain_block_size,
                                    fill_size_t* domain_block_number,
                                    fill_size_t* position_in_block, int argc, char** argv);

/** The optional function `NAME_block`: stores the values of the elements [start, start + count) of
 * a block in `values`, row-major.
 *
 * It replaces the calls of `NAME`. A write asks for whole blocks, a check for parts of blocks, so a
 * value must not depend on start and count. Any result but 0 ends the run. */
typedef int fill_block_function(int mpi_rank, const fill_size_t* system_size,
                                const fill_size_t* domain_block_size,
                                const fill_size_t* domain_block_number, const fill_size_t* start,
                                const fill_size_t* count, int argc, char** argv, float* values);

/** The optional function `NAME_prepare`: checks the arguments.
 *
 * Every process calls it once, before anything else. It returns 0, or stores a sentence in
 * `message` and returns another number. The run then ends before it creates a file. */
typedef int fill_prepare_function(const fill_size_t* system_size,
                                  const fill_size_t* domain_block_size, int argc, char** argv,
                                  char* message, size_t message_size);

#endif
