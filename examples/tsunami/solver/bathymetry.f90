! SPDX-License-Identifier: BSD-3-Clause
!> The bed: read from a binary file, or made by a test.
!>
!> File format (native endianness): 8 characters "SYBATHY1"; int32 nx, ny; real64 width and height of a cell in metres;
!> real64 longitude and latitude of the first and of the last cell's centre (west, south, east, north); real32 nx * ny
!> elevations in metres above the sea, x fastest, from south to north.
module tsunami_bathymetry
  use tsunami_kinds, only: int32, real32, real64, wp
  implicit none
  private
  public :: bathymetry_t, read_bathymetry

  character(len=8), parameter :: magic = 'SYBATHY1'
  integer, parameter :: max_extent = 100000

  type :: bathymetry_t
    integer :: nx = 0, ny = 0
    real(wp) :: dx = 0, dy = 0              !< metres
    real(wp), allocatable :: bed(:, :)      !< (nx, ny), metres above the sea
  end type bathymetry_t

contains

  !> Reads a file. error is empty on success; otherwise it names the file and what is wrong.
  subroutine read_bathymetry(path, bathymetry, error)
    character(len=*), intent(in) :: path
    type(bathymetry_t), intent(out) :: bathymetry
    character(len=:), allocatable, intent(out) :: error
    integer :: unit, io
    character(len=256) :: reason

    error = ''
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read', iostat=io, &
          iomsg=reason)
    if (io /= 0) then
      error = 'bathymetry: cannot open "' // path // '": ' // trim(reason)
      return
    end if
    call read_header(unit, path, bathymetry, error)
    if (error == '') call read_bed(unit, path, bathymetry, error)
    close (unit)
  end subroutine read_bathymetry

  subroutine read_header(unit, path, bathymetry, error)
    integer, intent(in) :: unit
    character(len=*), intent(in) :: path
    type(bathymetry_t), intent(inout) :: bathymetry
    character(len=:), allocatable, intent(inout) :: error
    character(len=8) :: found
    integer(int32) :: extents(2)
    real(real64) :: numbers(6)
    integer :: io

    read (unit, iostat=io) found, extents, numbers
    if (io /= 0) then
      error = 'bathymetry: "' // path // '" is truncated in its header'
    else if (found /= magic) then
      error = 'bathymetry: "' // path // '" does not begin with ' // magic
    else if (any(extents < 4) .or. any(extents > max_extent)) then
      error = 'bathymetry: "' // path // '" has an extent outside 4 to 100000'
    else if (.not. all(numbers(1:2) > 0)) then
      error = 'bathymetry: "' // path // '" has cells without size'
    else
      bathymetry%nx = extents(1)
      bathymetry%ny = extents(2)
      bathymetry%dx = numbers(1)
      bathymetry%dy = numbers(2)
    end if
  end subroutine read_header

  subroutine read_bed(unit, path, bathymetry, error)
    integer, intent(in) :: unit
    character(len=*), intent(in) :: path
    type(bathymetry_t), intent(inout) :: bathymetry
    character(len=:), allocatable, intent(inout) :: error
    real(real32), allocatable :: elevation(:, :)
    integer :: io

    allocate (elevation(bathymetry%nx, bathymetry%ny))
    read (unit, iostat=io) elevation
    if (io /= 0) then
      error = 'bathymetry: "' // path // '" is truncated in its elevations'
    else if (.not. all(abs(elevation) < 20000)) then
      error = 'bathymetry: "' // path // '" holds an elevation that is not a number or not on Earth'
    else
      bathymetry%bed = real(elevation, wp)
    end if
  end subroutine read_bed
end module tsunami_bathymetry
