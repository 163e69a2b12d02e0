!> Files of HDF5 for slabmark_rearrange; rearrange_hdf5.h documents each function further.
module slabmark_rearrange_hdf5
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: slabmark_open_hdf5, slabmark_adopt_hdf5

  interface
    integer(c_int) function c_open(system, path, mode, info, file) &
        bind(c, name="slabmark_fortran_open_hdf5")
      import :: c_int, c_char
      integer(c_int), value :: system, mode, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function c_adopt(system, hdf5_file, mode, info, file) &
        bind(c, name="slabmark_fortran_adopt_hdf5")
      import :: c_int, c_int64_t
      integer(c_int), value :: system, mode, info
      integer(c_int64_t), value :: hdf5_file
      integer(c_int), intent(out) :: file
    end function
  end interface

contains

  !> Opens a file that one rank has created and closed.
  integer function slabmark_open_hdf5(system, path, mode, info, file) result(code)
    integer, intent(in) :: system, mode, info
    character(len=*), intent(in) :: path
    integer, intent(out) :: file
    code = c_open(system, trim(path) // c_null_char, mode, info, file)
  end function

  !> Adopts a file that all ranks have open; hdf5_file is an integer(hid_t) of HDF5's module.
  integer function slabmark_adopt_hdf5(system, hdf5_file, mode, info, file) result(code)
    integer, intent(in) :: system, mode, info
    integer(c_int64_t), intent(in) :: hdf5_file
    integer, intent(out) :: file
    code = c_adopt(system, hdf5_file, mode, info, file)
  end function

end module
