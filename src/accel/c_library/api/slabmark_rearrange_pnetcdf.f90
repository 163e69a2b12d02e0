!> Files of PnetCDF for slabmark_rearrange; rearrange_pnetcdf.h documents each function further.
module slabmark_rearrange_pnetcdf
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: slabmark_open_pnetcdf, slabmark_take_pnetcdf, slabmark_adopt_pnetcdf

  interface
    integer(c_int) function c_open(system, path, mode, info, file) &
        bind(c, name="slabmark_fortran_open_pnetcdf")
      import :: c_int, c_char
      integer(c_int), value :: system, mode, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function c_take(system, path, ncid, info, file) &
        bind(c, name="slabmark_fortran_take_pnetcdf")
      import :: c_int, c_char
      integer(c_int), value :: system, ncid, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(out) :: file
    end function
    integer(c_int) function c_adopt(system, ncid, mode, info, file) &
        bind(c, name="slabmark_fortran_adopt_pnetcdf")
      import :: c_int
      integer(c_int), value :: system, ncid, mode, info
      integer(c_int), intent(out) :: file
    end function
  end interface

contains

  !> Opens a file that is complete except for its data.
  integer function slabmark_open_pnetcdf(system, path, mode, info, file) result(code)
    integer, intent(in) :: system, mode, info
    character(len=*), intent(in) :: path
    integer, intent(out) :: file
    code = c_open(system, trim(path) // c_null_char, mode, info, file)
  end function

  !> Opens a file that rank 0 alone has created and still has open.
  integer function slabmark_take_pnetcdf(system, path, ncid, info, file) result(code)
    integer, intent(in) :: system, ncid, info
    character(len=*), intent(in) :: path
    integer, intent(out) :: file
    code = c_take(system, trim(path) // c_null_char, ncid, info, file)
  end function

  !> Adopts a file that all ranks have open in data mode.
  integer function slabmark_adopt_pnetcdf(system, ncid, mode, info, file) result(code)
    integer, intent(in) :: system, ncid, mode, info
    integer, intent(out) :: file
    code = c_adopt(system, ncid, mode, info, file)
  end function

end module
