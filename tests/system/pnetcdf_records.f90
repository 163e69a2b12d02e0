! A program in Fortran that uses PnetCDF: two records of two variables, posted through the interface of Fortran 90 and that of
! Fortran 77, by boxes and with a conversion, and read back.
!
!     pnetcdf_records <file>
program pnetcdf_records
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: rows = 8, columns = 6
  integer :: rank, ranks, error, ncid, ids(3), first, second, record, i, wrong, request(2), status(2)
  integer(kind=MPI_OFFSET_KIND) :: start(3), count(3), starts(3, columns), counts(3, columns), length
  real(kind=8) :: values(rows, columns), back(rows, columns)
  real(kind=4) :: singles(rows * columns), single_back(rows * columns)
  character(len=4096) :: path

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, path)
  call check(nf90mpi_create(MPI_COMM_WORLD, trim(path), ior(NF90_CLOBBER, NF90_64BIT_DATA), MPI_INFO_NULL, ncid))
  length = rows * ranks
  call check(nf90mpi_def_dim(ncid, 'row', length, ids(1)))
  length = columns
  call check(nf90mpi_def_dim(ncid, 'column', length, ids(2)))
  length = NF90MPI_UNLIMITED
  call check(nf90mpi_def_dim(ncid, 'time', length, ids(3)))
  call check(nf90mpi_def_var(ncid, 'first', NF90_DOUBLE, ids, first))
  call check(nf90mpi_def_var(ncid, 'second', NF90_DOUBLE, ids, second))
  call check(nf90mpi_enddef(ncid))

  do record = 1, 2
    do i = 1, columns
      values(:, i) = 1000 * record + 100 * rank + i
      ! A row of each rank, the last column first.
      starts(:, i) = [rank + 1, columns + 1 - i, record]
      counts(:, i) = [1, 1, 1]
    end do
    singles = [(real(10 * record + rank) + i / 64.0, i = 1, size(singles))]
    start = [rank * rows + 1, 1, record]
    count = [rows, columns, 1]
    call check(nf90mpi_iput_var(ncid, first, values, request(1), start, count))
    call check(nfmpi_iput_varn_real(ncid, second, columns, starts, counts, singles, request(2)))
    call check(nf90mpi_wait_all(ncid, 2, request, status))
    call check(status(1))
    call check(status(2))
  end do

  wrong = 0
  do record = 1, 2
    start = [rank * rows + 1, 1, record]
    count = [rows, columns, 1]
    starts(3, :) = record
    call check(nf90mpi_iget_var(ncid, first, back, request(1), start, count))
    call check(nfmpi_get_varn_real_all(ncid, second, columns, starts, counts, single_back))
    call check(nfmpi_wait_all(ncid, 1, request, status))
    do i = 1, columns
      if (any(back(:, i) /= 1000 * record + 100 * rank + i)) wrong = wrong + 1
      if (single_back(i) /= real(10 * record + rank) + i / 64.0) wrong = wrong + 1
    end do
  end do
  call check(nf90mpi_close(ncid))
  print '(a, i0, a, i0, a)', 'rank ', rank, ': ', wrong, ' wrong'
  call MPI_Finalize(error)

contains

  subroutine check(code)
    integer, intent(in) :: code
    integer :: ignored
    if (code == NF90_NOERR) return
    print '(a)', trim(nf90mpi_strerror(code))
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine check
end program pnetcdf_records
