!> Writes and reads decomposed arrays by collective rearrangement, from Fortran 2008 with assumed
!> ranks (TS 29113). rearrange.h documents each function further. Compile this source with your
!> program, since a module file belongs to one compiler.
!>
!> Every function returns slabmark_ok or a negative code. Counting is as in Fortran: offsets,
!> variables and records from 1 (variables as nf90mpi_inq_varid() numbers them), and extents fastest
!> first. A communicator is an integer, which mpi_f08 has in `comm%MPI_VAL`; so is an MPI_Info.
module slabmark_rearrange
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private

  ! Codes that functions return.
  integer, parameter, public :: slabmark_ok = 0 !< success
  integer, parameter, public :: slabmark_ehandle = -1 !< the system, decomposition or file does not exist, or is closed
  integer, parameter, public :: slabmark_eargument = -2 !< a negative size, an unknown option or value
  integer, parameter, public :: slabmark_edecomp = -3 !< an element lies outside the array, or a rank names it twice
  integer, parameter, public :: slabmark_eoverlap = -4 !< two ranks write the same element
  integer, parameter, public :: slabmark_elength = -5 !< a buffer or variable is not as long as the decomposition
  integer, parameter, public :: slabmark_etype = -6 !< a variable and the decomposition differ in type
  integer, parameter, public :: slabmark_evariable = -7 !< the variable does not exist
  integer, parameter, public :: slabmark_eframe = -8 !< the record does not exist
  integer, parameter, public :: slabmark_ereadonly = -9 !< the file is open for reading
  integer, parameter, public :: slabmark_eranks = -10 !< ranks made different calls
  integer, parameter, public :: slabmark_enomem = -11 !< memory is exhausted on a rank
  integer, parameter, public :: slabmark_eio = -12 !< the file system or a file library failed
  integer, parameter, public :: slabmark_eformat = -13 !< the library cannot move data of this layout
  integer, parameter, public :: slabmark_ethreads = -14 !< MPI was not initialized with MPI_THREAD_MULTIPLE
  ! Types of elements that Fortran has.
  integer, parameter, public :: slabmark_int32 = 5 !< integer(int32)
  integer, parameter, public :: slabmark_int64 = 7 !< integer(int64)
  integer, parameter, public :: slabmark_float32 = 9 !< real(real32)
  integer, parameter, public :: slabmark_float64 = 10 !< real(real64)
  ! Modes to open a file in.
  integer, parameter, public :: slabmark_read = 0 !< an existing file, only to read it
  integer, parameter, public :: slabmark_write = 1 !< an existing file, to write and read it
  integer, parameter, public :: slabmark_create = 2 !< a new raw file, which must not exist yet

  public :: slabmark_init, slabmark_init_io, slabmark_set_option, slabmark_finalize
  public :: slabmark_init_decomp, slabmark_init_decomp_runs, slabmark_free_decomp
  public :: slabmark_keep_definition, slabmark_create_defined, slabmark_free_definition
  public :: slabmark_open_raw, slabmark_def_raw, slabmark_inq_varid, slabmark_set_frame
  public :: slabmark_write_darray, slabmark_read_darray, slabmark_iput_darray, slabmark_iget_darray
  public :: slabmark_flush, slabmark_sync, slabmark_close
  public :: slabmark_strerror, slabmark_message

  !> Writes an array of any rank, which is copied.
  !> `code = slabmark_write_darray(file, variable, decomp, data [, fill])`
  interface slabmark_write_darray
    procedure :: write_real32, write_real64, write_int32, write_int64
  end interface
  !> Reads an array of any rank.
  !> `code = slabmark_read_darray(file, variable, decomp, data)`
  interface slabmark_read_darray
    procedure :: read_real32, read_real64, read_int32, read_int64
  end interface
  !> Writes like slabmark_write_darray, without a copy: the data are a target (or asynchronous) in
  !> the caller and must not change before slabmark_flush(). A section must be contiguous.
  !> `code = slabmark_iput_darray(file, variable, decomp, data [, fill])`
  interface slabmark_iput_darray
    procedure :: iput_real32, iput_real64, iput_int32, iput_int64
  end interface
  !> Reads like slabmark_read_darray, in the next slabmark_flush(). The data are a target as for
  !> slabmark_iput_darray.
  !> `code = slabmark_iget_darray(file, variable, decomp, data)`
  interface slabmark_iget_darray
    procedure :: iget_real32, iget_real64, iget_int32, iget_int64
  end interface

  ! The verbs of slabmark_fortran_move().
  integer(c_int), parameter :: writes = 0, reads = 1, iputs = 2, igets = 3, scattered = -1

  interface
    integer(c_int) function c_init(comm, system) bind(c, name="slabmark_fortran_init")
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(out) :: system
    end function
    integer(c_int) function c_init_io(comm, io_ranks, program_comm, system) &
        bind(c, name="slabmark_fortran_init_io")
      import :: c_int
      integer(c_int), value :: comm, io_ranks
      integer(c_int), intent(out) :: program_comm, system
    end function
    integer(c_int) function c_set_option(system, name, text) bind(c, name="slabmark_set_option")
      import :: c_int, c_char
      integer(c_int), value :: system
      character(kind=c_char), intent(in) :: name(*), text(*)
    end function
    integer(c_int) function c_finalize(system) bind(c, name="slabmark_finalize")
      import :: c_int
      integer(c_int), value :: system
    end function
    integer(c_int) function c_init_decomp_runs(system, kind, ndims, extents, runs, starts, &
                                               number_of_lengths, lengths, decomp) &
        bind(c, name="slabmark_fortran_init_decomp_runs")
      import :: c_int, c_int64_t
      integer(c_int), value :: system, kind, ndims
      integer(c_int64_t), value :: runs, number_of_lengths
      integer(c_int64_t), intent(in) :: extents(*), starts(*), lengths(*)
      integer(c_int), intent(out) :: decomp
    end function
    integer(c_int) function c_init_decomp(system, kind, ndims, extents, number, offsets, decomp) &
        bind(c, name="slabmark_fortran_init_decomp")
      import :: c_int, c_int64_t
      integer(c_int), value :: system, kind, ndims
      integer(c_int64_t), value :: number
      integer(c_int64_t), intent(in) :: extents(*), offsets(*)
      integer(c_int), intent(out) :: decomp
    end function
    integer(c_int) function c_free_decomp(decomp) bind(c, name="slabmark_free_decomp")
      import :: c_int
      integer(c_int), value :: decomp
    end function
    integer(c_int) function c_keep_definition(system, path, definition) &
        bind(c, name="slabmark_keep_definition")
      import :: c_int, c_char
      integer(c_int), value :: system
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: definition
    end function
    integer(c_int) function c_create_defined(definition, path, info) &
        bind(c, name="slabmark_fortran_create_defined")
      import :: c_int, c_char
      integer(c_int), value :: definition, info
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_free_definition(definition) bind(c, name="slabmark_free_definition")
      import :: c_int
      integer(c_int), value :: definition
    end function
    integer(c_int) function c_open_raw(system, path, mode, info, file) &
        bind(c, name="slabmark_fortran_open_raw")
      import :: c_int, c_char
      integer(c_int), value :: system, mode, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function c_def_raw(file, kind, elements, offset, record_bytes, variable) &
        bind(c, name="slabmark_def_raw")
      import :: c_int, c_int64_t
      integer(c_int), value :: file, kind
      integer(c_int64_t), value :: elements, offset, record_bytes
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function c_inq_varid(file, name, variable) bind(c, name="slabmark_inq_varid")
      import :: c_int, c_char
      integer(c_int), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function c_set_frame(file, variable, frame) bind(c, name="slabmark_set_frame")
      import :: c_int, c_int64_t
      integer(c_int), value :: file, variable
      integer(c_int64_t), value :: frame
    end function
    integer(c_int) function c_move(verb, file, variable, decomp, kind, number, address, fill) &
        bind(c, name="slabmark_fortran_move")
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: verb, file, variable, decomp, kind
      integer(c_int64_t), value :: number
      type(c_ptr), value :: address, fill
    end function
    integer(c_int) function c_flush(file) bind(c, name="slabmark_flush")
      import :: c_int
      integer(c_int), value :: file
    end function
    integer(c_int) function c_sync(file) bind(c, name="slabmark_sync")
      import :: c_int
      integer(c_int), value :: file
    end function
    integer(c_int) function c_close(file) bind(c, name="slabmark_close")
      import :: c_int
      integer(c_int), value :: file
    end function
    type(c_ptr) function c_strerror(code) bind(c, name="slabmark_strerror")
      import :: c_int, c_ptr
      integer(c_int), value :: code
    end function
    type(c_ptr) function c_message() bind(c, name="slabmark_message")
      import :: c_ptr
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  !> Makes a system of the ranks of a communicator.
  integer function slabmark_init(comm, system) result(code)
    integer, intent(in) :: comm
    integer, intent(out) :: system
    code = c_init(comm, system)
  end function

  !> Makes a system that keeps io_ranks of comm for I/O alone. On these ranks the call returns at
  !> slabmark_finalize(), with MPI_COMM_NULL.
  integer function slabmark_init_io(comm, io_ranks, program_comm, system) result(code)
    integer, intent(in) :: comm, io_ranks
    integer, intent(out) :: program_comm, system
    code = c_init_io(comm, io_ranks, program_comm, system)
  end function

  !> Sets an option, before the first file is opened.
  integer function slabmark_set_option(system, name, text) result(code)
    integer, intent(in) :: system
    character(len=*), intent(in) :: name, text
    code = c_set_option(system, trim(name) // c_null_char, trim(text) // c_null_char)
  end function

  !> Ends a system, and frees its decompositions.
  integer function slabmark_finalize(system) result(code)
    integer, intent(in) :: system
    code = c_finalize(system)
  end function

  !> Describes the elements of this rank one by one. offsets has the offset in the array of each
  !> element of a buffer, from 1, or 0 for elements that are not moved.
  integer function slabmark_init_decomp(system, kind, extents, offsets, decomp) result(code)
    integer, intent(in) :: system, kind
    integer(int64), intent(in) :: extents(:), offsets(:)
    integer, intent(out) :: decomp
    code = c_init_decomp(system, kind, size(extents), extents(size(extents):1:-1), &
                         size(offsets, kind=int64), offsets, decomp)
  end function

  !> Describes the elements of this rank as runs: the start of each in the array, from 1, and its
  !> length. Elements of a run that starts at 0 are not moved.
  integer function slabmark_init_decomp_runs(system, kind, extents, starts, lengths, decomp) &
      result(code)
    integer, intent(in) :: system, kind
    integer(int64), intent(in) :: extents(:), starts(:), lengths(:)
    integer, intent(out) :: decomp
    code = c_init_decomp_runs(system, kind, size(extents), extents(size(extents):1:-1), &
                              size(starts, kind=int64), starts, size(lengths, kind=int64), &
                              lengths, decomp)
  end function

  !> Frees a decomposition.
  integer function slabmark_free_decomp(decomp) result(code)
    integer, intent(in) :: decomp
    code = c_free_decomp(decomp)
  end function

  !> Keeps what a file library wrote when it defined a file, for files that are defined alike.
  integer function slabmark_keep_definition(system, path, definition) result(code)
    integer, intent(in) :: system
    character(len=*), intent(in) :: path
    integer, intent(out) :: definition
    code = c_keep_definition(system, trim(path) // c_null_char, definition)
  end function

  !> Makes a new file with those bytes, in place of the calls of the library.
  integer function slabmark_create_defined(definition, path, info) result(code)
    integer, intent(in) :: definition, info
    character(len=*), intent(in) :: path
    code = c_create_defined(definition, trim(path) // c_null_char, info)
  end function

  !> Frees what slabmark_keep_definition keeps.
  integer function slabmark_free_definition(definition) result(code)
    integer, intent(in) :: definition
    code = c_free_definition(definition)
  end function

  !> Opens a file without a header.
  integer function slabmark_open_raw(system, path, mode, info, file) result(code)
    integer, intent(in) :: system, mode, info
    character(len=*), intent(in) :: path
    integer, intent(out) :: file
    code = c_open_raw(system, trim(path) // c_null_char, mode, info, file)
  end function

  !> Defines an array of a raw file. offset counts the bytes before it, from 0.
  integer function slabmark_def_raw(file, kind, elements, offset, record_bytes, variable) result(code)
    integer, intent(in) :: file, kind
    integer(int64), intent(in) :: elements, offset, record_bytes
    integer, intent(out) :: variable
    code = c_def_raw(file, kind, elements, offset, record_bytes, variable)
    variable = variable + 1
  end function

  !> Finds a variable by its name.
  integer function slabmark_inq_varid(file, name, variable) result(code)
    integer, intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(out) :: variable
    variable = -1
    code = c_inq_varid(file, trim(name) // c_null_char, variable)
    variable = variable + 1
  end function

  !> Chooses the record, from 1, that the next calls for the variable move.
  integer function slabmark_set_frame(file, variable, frame) result(code)
    integer, intent(in) :: file, variable
    integer(int64), intent(in) :: frame
    code = c_set_frame(file, variable - 1, frame - 1)
  end function

  !> Moves all pending data.
  integer function slabmark_flush(file) result(code)
    integer, intent(in) :: file
    code = c_flush(file)
  end function

  !> Flushes, and has the file system store the data.
  integer function slabmark_sync(file) result(code)
    integer, intent(in) :: file
    code = c_sync(file)
  end function

  !> Flushes and closes a file.
  integer function slabmark_close(file) result(code)
    integer, intent(in) :: file
    code = c_close(file)
  end function

  !> Describes a code in words.
  function slabmark_strerror(code) result(text)
    integer, intent(in) :: code
    character(len=:), allocatable :: text
    text = text_at(c_strerror(code))
  end function

  !> The sentence that explains the last failure.
  function slabmark_message() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_message())
  end function

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    call c_f_pointer(address, characters, [c_strlen(address)])
    allocate (character(len=size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

  integer function write_real32(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real32), intent(in), contiguous, target :: data(..)
    real(real32), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(writes, file, variable - 1, decomp, slabmark_float32, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function write_real64(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real64), intent(in), contiguous, target :: data(..)
    real(real64), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(writes, file, variable - 1, decomp, slabmark_float64, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function write_int32(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int32), intent(in), contiguous, target :: data(..)
    integer(int32), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(writes, file, variable - 1, decomp, slabmark_int32, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function write_int64(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int64), intent(in), contiguous, target :: data(..)
    integer(int64), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(writes, file, variable - 1, decomp, slabmark_int64, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function iput_real32(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real32), intent(in), target :: data(..)
    real(real32), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(merge(iputs, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_float32, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function iput_real64(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real64), intent(in), target :: data(..)
    real(real64), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(merge(iputs, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_float64, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function iput_int32(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int32), intent(in), target :: data(..)
    integer(int32), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(merge(iputs, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_int32, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function iput_int64(file, variable, decomp, data, fill) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int64), intent(in), target :: data(..)
    integer(int64), intent(in), optional, target :: fill
    type(c_ptr) :: filler
    filler = c_null_ptr
    if (present(fill)) filler = c_loc(fill)
    code = c_move(merge(iputs, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_int64, &
                  size(data, kind=c_int64_t), c_loc(data), filler)
  end function

  integer function read_real32(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real32), intent(inout), contiguous, target :: data(..)
    code = c_move(reads, file, variable - 1, decomp, slabmark_float32, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function read_real64(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real64), intent(inout), contiguous, target :: data(..)
    code = c_move(reads, file, variable - 1, decomp, slabmark_float64, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function read_int32(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int32), intent(inout), contiguous, target :: data(..)
    code = c_move(reads, file, variable - 1, decomp, slabmark_int32, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function read_int64(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int64), intent(inout), contiguous, target :: data(..)
    code = c_move(reads, file, variable - 1, decomp, slabmark_int64, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function iget_real32(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real32), intent(inout), target :: data(..)
    code = c_move(merge(igets, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_float32, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function iget_real64(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    real(real64), intent(inout), target :: data(..)
    code = c_move(merge(igets, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_float64, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function iget_int32(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int32), intent(inout), target :: data(..)
    code = c_move(merge(igets, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_int32, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

  integer function iget_int64(file, variable, decomp, data) result(code)
    integer, intent(in) :: file, variable, decomp
    integer(int64), intent(inout), target :: data(..)
    code = c_move(merge(igets, scattered, is_contiguous(data) .or. size(data, kind=int64) < 2), &
                  file, variable - 1, decomp, slabmark_int64, &
                  size(data, kind=c_int64_t), c_loc(data), c_null_ptr)
  end function

end module
