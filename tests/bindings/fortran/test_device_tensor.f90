! SPDX-License-Identifier: BSD-3-Clause
!> Tensors in device memory: made, freed, given to C and to kernels by their address; what Fortran cannot reach is named.
program test_device_tensor
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t, host
  integer :: stat
  character(len=600) :: errmsg
  real(real64) :: rows(3, 1)
  real(real64), pointer :: p(:, :)

  call syncyte_init()
  call world%from_world()
  call t%create(world, SYNCYTE_FLOAT64, [3, 4 * world%size()], memory=SYNCYTE_MEMORY_CUDA, device=0)
  call check(t%address() /= 0_c_intptr_t, "an address of the device")
  call check(t%extent(2) == 4 * world%size(), "rows")
  call t%sync()
  call t%local(p, stat, errmsg)
  call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "memory of device 0", "a pointer to device memory")
  call t%node(p, stat=stat, errmsg=errmsg)
  call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "expected address()", "a pointer to the node's rows")
  call t%gather([1], rows, stat, errmsg)
  call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "(index): memory is the host's", "an index in host memory")
  call host%create(world, SYNCYTE_FLOAT64, [3, 4 * world%size()])
  call host%local(p)
  call check(host%address() == transfer(c_loc(p), 0_c_intptr_t), "the address of rows in host memory")
  call host%create(world, SYNCYTE_FLOAT64, [3, 4], memory=SYNCYTE_MEMORY_CUDA, device=99, stat=stat, errmsg=errmsg)
  call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "device is 99", "no such device")
  call t%destroy()
  call host%destroy()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()
end program test_device_tensor
