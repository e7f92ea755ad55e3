! SPDX-License-Identifier: BSD-3-Clause
!> Kinds and constants of the solver.
module tsunami_kinds
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private
  public :: int32, int64, real32, real64, wp, gravity, dry_depth

  integer, parameter :: wp = real64
  real(wp), parameter :: gravity = 9.81_wp    !< m/s^2
  real(wp), parameter :: dry_depth = 1e-6_wp  !< m; water below this depth has no velocity
end module tsunami_kinds
