#pragma once

namespace slabmark {

/// Does nothing; who calls it gets the functions of this file's source into the program, which
/// stand before MPI's: MPI_File_write_at, MPI_File_write_at_all, MPI_File_set_size and
/// MPI_File_sync, also where a file library calls them. Where one fails, end_soon() is called.
/// What these libraries do next may never end: HDF5 sets the file's view anew, which is collective,
/// while the other ranks wait for this one's part of the write. And pwrite, where it fails within
/// MPI_File_write_at_all: of several aggregators ROMIO lets those whose writes fail wait at the end
/// of that call for ranks that wait for its next round.
void watch_writes();

}  // namespace slabmark
