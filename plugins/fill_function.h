/* What a library of fill functions for seism-core-slice exports. NAME stands for the name that
   use_function_name gives. A block is what one process owns; positions and lengths are (x, y, z),
   z being the fastest. Plain C, no HDF5 needed: hsize_t is this integer. */
#ifndef SLABMARK_FILL_FUNCTION_H
#define SLABMARK_FILL_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t fill_size_t;

/* float NAME(...), required: the value of one element. Called once an element.
     mpi_rank             of the process that owns the block
     system_size          number of blocks in each direction
     domain_block_size    elements of a block in each direction
     domain_block_number  (x, y, z) of the block among the blocks
     position_in_block    (x, y, z) of the element in its block
     argc, argv           use_function_argc, use_function_argv; argv[0] is the first argument */
typedef float fill_element_function(int mpi_rank, fill_size_t* system_size,
                                    fill_size_t* domain_block_size,
                                    fill_size_t* domain_block_number,
                                    fill_size_t* position_in_block, int argc, char** argv);

/* int NAME_block(...), optional: the values of the elements [start, start + count) of a block at
   once, row-major into `values`. A whole block when a file is written; parts of blocks when one is
   checked, so the value of an element must not depend on start and count. Returns 0, anything else
   ends the run. Where it is there, NAME itself is not called. */
typedef int fill_block_function(int mpi_rank, const fill_size_t* system_size,
                                const fill_size_t* domain_block_size,
                                const fill_size_t* domain_block_number, const fill_size_t* start,
                                const fill_size_t* count, int argc, char** argv, float* values);

/* int NAME_prepare(...), optional: called once in each process before anything else. Looks whether
   the arguments will do and returns 0, or puts a sentence into `message` and returns another
   number: the run then ends before a file is made. */
typedef int fill_prepare_function(const fill_size_t* system_size,
                                  const fill_size_t* domain_block_size, int argc, char** argv,
                                  char* message, size_t message_size);

#endif
