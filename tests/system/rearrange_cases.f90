!> What a program in Fortran does with the library for decomposed arrays, for its tests: rearrange_cases FILE
program rearrange_cases
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use mpi
  use slabmark_rearrange
  implicit none

  integer, parameter :: own = 32, many = 2000000
  integer :: error, rank, ranks, system, decomp, file, variable, i, codes(8)
  integer(int64), allocatable :: starts(:), lengths(:), offsets(:)
  real(real32), target :: rows(2, own), back(own)
  character(len=1024) :: path

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, path)
  codes(1) = slabmark_init(MPI_COMM_WORLD, system)

  ! Fewer lengths than runs, on one rank.
  allocate (starts(2), lengths(2 - merge(1, 0, rank == 1)))
  starts = [rank * own + 1, rank * own + own / 2 + 1]
  lengths = own / 2
  codes(1) = slabmark_init_decomp_runs(system, slabmark_float32, [int(own * ranks, int64)], starts, lengths, decomp)

  ! More offsets than a stack holds; offset 0 leaves an element out.
  allocate (offsets(many))
  do i = 1, many
    offsets(i) = int(i - 1, int64) * ranks + rank + 1
  end do
  offsets(many) = 0
  codes(2) = slabmark_init_decomp(system, slabmark_float32, [int(many, int64) * ranks], offsets, decomp)
  offsets(many) = -1
  codes(3) = slabmark_init_decomp(system, slabmark_float32, [int(many, int64) * ranks], offsets, decomp)

  deallocate (offsets)
  allocate (offsets(own))
  offsets = [(int(rank * own + i, int64), i = 1, own)]
  codes(4) = slabmark_init_decomp(system, slabmark_float32, [int(own * ranks, int64)], offsets, decomp)
  codes(4) = slabmark_open_raw(system, path, slabmark_create, MPI_INFO_NULL, file)
  codes(4) = slabmark_def_raw(file, slabmark_float32, int(own * ranks, int64), 0_int64, 0_int64, variable)

  ! A row does not stand together, and is not there any more when it is moved, unless it is copied.
  rows(1, :) = [(real(rank * own + i, real32), i = 1, own)]
  rows(2, :) = -1
  codes(4) = slabmark_iput_darray(file, variable, decomp, rows(1, :))
  codes(5) = slabmark_flush(file)
  codes(6) = slabmark_iget_darray(file, variable, decomp, rows(2, :))
  codes(7) = slabmark_flush(file)
  codes(8) = slabmark_write_darray(file, variable, decomp, rows(1, :))
  back = -1
  if (codes(8) == slabmark_ok) codes(8) = slabmark_flush(file)
  if (codes(8) == slabmark_ok) codes(8) = slabmark_iget_darray(file, variable, decomp, back(1:own))
  if (codes(8) == slabmark_ok) codes(8) = slabmark_close(file)
  print '(a, i0, a, 8(i0, 1x), a, i0, a)', 'rank ', rank, ': ', codes, 'and ', &
    count(back /= rows(1, :)) + count(rows(2, :) /= -1), ' wrong'
  error = slabmark_finalize(system)
  call MPI_Finalize(error)
end program
