!> Columns of an atmosphere, dealt out to the ranks, written as netCDF by a plan: example.f90 FILE [IO_RANKS]
program example
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, error_unit
  use mpi
  use pnetcdf
  use slabmark_rearrange
  use slabmark_rearrange_pnetcdf
  implicit none

  integer, parameter :: levels = 5, columns = 96, records = 3
  integer :: comm, rank, ranks, io_ranks, error, own, l, c, record, wrong
  integer :: system, file, area_decomp, t_decomp, area, t
  integer(int64), allocatable :: offsets(:, :)
  real(real64), allocatable :: area_data(:)
  real(real32), allocatable :: t_data(:, :)
  character(len=1024) :: path, word

  call MPI_Init(error)
  call get_command_argument(1, path)
  call get_command_argument(2, word)
  io_ranks = 0
  if (word /= '') read (word, *) io_ranks
  call check(slabmark_init_io(MPI_COMM_WORLD, io_ranks, comm, system), 'slabmark_init_io')
  if (comm == MPI_COMM_NULL) then  ! this rank was for I/O alone, and all is done
    call MPI_Finalize(error)
    stop
  end if
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)

  ! This rank has every `ranks`-th column, on all levels.
  own = (columns - rank + ranks - 1) / ranks
  allocate (offsets(own, levels), area_data(own), t_data(own, levels))
  area_data = [(0.5_real64 * (rank + (c - 1) * ranks), c = 1, own)]
  do l = 1, levels
    offsets(:, l) = [((l - 1) * columns + rank + (c - 1) * ranks + 1, c = 1, own)]
  end do

  call check(slabmark_init_decomp(system, slabmark_float64, [int(columns, int64)], offsets(:, 1), &
                                  area_decomp), 'slabmark_init_decomp')
  call check(slabmark_init_decomp(system, slabmark_float32, int([columns, levels], int64), &
                                  reshape(offsets, [size(offsets)]), t_decomp), &
             'slabmark_init_decomp')

  if (rank == 0) call define()
  call MPI_Barrier(comm, error)
  call check(slabmark_open_pnetcdf(system, path, slabmark_write, MPI_INFO_NULL, file), path)
  call check(slabmark_inq_varid(file, 'area', area), 'area')
  call check(slabmark_inq_varid(file, 'T', t), 'T')
  call check(slabmark_write_darray(file, area, area_decomp, area_data), 'area')
  do record = 1, records
    t_data = real(1000 * (record - 1) + offsets - 1, real32)
    call check(slabmark_set_frame(file, t, int(record, int64)), 'T')
    call check(slabmark_write_darray(file, t, t_decomp, t_data), 'T')
    call check(slabmark_flush(file), 'slabmark_flush')
  end do

  ! And back.
  call check(slabmark_set_frame(file, t, 2_int64), 'T')
  call check(slabmark_read_darray(file, t, t_decomp, t_data), 'T')
  wrong = count(t_data /= real(1000 + offsets - 1, real32))
  print '(a, i0, a, i0, a)', 'rank ', rank, ': ', wrong, ' wrong'

  call check(slabmark_close(file), 'slabmark_close')
  call check(slabmark_finalize(system), 'slabmark_finalize')
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
  if (wrong /= 0) stop 1

contains

  subroutine check(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code == slabmark_ok) return
    write (error_unit, *) trim(what), ': ', slabmark_message(), ' (', slabmark_strerror(code), ')'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  !> PnetCDF makes the header, on one rank: that is faster than on all.
  subroutine define()
    integer :: ncid, time, lev, ncol, area_id, t_id, info, status
    call MPI_Info_create(info, status)
    call MPI_Info_set(info, 'nc_var_align_size', '1', status)  ! variables side by side
    status = nf90mpi_create(MPI_COMM_SELF, trim(path), ior(nf90_clobber, nf90_64bit_data), info, ncid)
    status = nf90mpi_def_dim(ncid, 'time', nf90mpi_unlimited, time)
    status = nf90mpi_def_dim(ncid, 'lev', int(levels, MPI_OFFSET_KIND), lev)
    status = nf90mpi_def_dim(ncid, 'ncol', int(columns, MPI_OFFSET_KIND), ncol)
    status = nf90mpi_def_var(ncid, 'area', nf90_double, [ncol], area_id)
    status = nf90mpi_def_var(ncid, 'T', nf90_real, [ncol, lev, time], t_id)
    status = nf90mpi_put_att(ncid, t_id, 'units', 'K')
    status = nf90mpi_enddef(ncid)
    status = nf90mpi_close(ncid)
    call MPI_Info_free(info, status)
  end subroutine

end program
