! SPDX-License-Identifier: BSD-3-Clause
!> Models by name: one process publishes arrays, others use them without a copy. Run: mpirun -np 3 ./models
!> Here ranks of a job bind them; any process of one user on the machine can, also a Python program.
program models
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32
  use syncyte
  implicit none
  integer, parameter :: layers = 4
  type(syncyte_comm) :: world
  type(syncyte_models) :: all
  type(syncyte_publication) :: publication
  type(syncyte_model) :: model
  real(real32), target, asynchronous :: weights(500, 1000, layers), bias(1000)
  real(real32), pointer :: found(:, :)
  integer(int32), pointer :: step => null()
  integer(int32), target, asynchronous :: steps
  integer :: layer, stat, pid
  character(len=64) :: name
  character(len=200) :: message
  character(len=:), allocatable :: listed
  integer :: holders
  integer(int64) :: bytes

  call syncyte_init()
  call world%from_world()
  call one_name()
  do layer = 1, layers
    weights(:, :, layer) = real(layer, real32)
  end do
  bias = 0.5
  steps = 42

  if (world%rank() == 0) then
    call all%create(budget=100*1024*1024)
    call all%serve(name=name, nonce=[pid, 1])
    call all%publish("net", publication, checksums=.true.)
    do layer = 1, layers
      call publication%add("weight"//achar(48 + layer), weights(:, :, layer))
    end do
    call publication%add("bias", bias)
    call publication%add("step", steps)
    call publication%start()                   ! others can bind it from now on, and wait for its arrays
    call world%barrier()
    call publication%fill("weight1", 10*weights(:, :, 1))
    call publication%finish()                  ! copies all others
    call publication%destroy()
  else
    call world%barrier()
    call all%connect(name=name, timeout=60d0, nonce=[pid, 1])
  end if

  call all%bind("net", model)
  call model%find("weight1", found)            ! waits for this array
  if (any(nint(found) /= 10)) error stop "the filled array"
  call model%find("weight4", found)
  if (any(nint(found) /= 4) .or. size(found, 1) /= 500) error stop "the published array"
  found = 0                                    ! only this process sees it
  call model%find("step", step)
  if (step /= 42) error stop "a scalar"
  call model%wait(timeout=60d0)
  call model%verify()                          ! the published bytes, not those that this process has written
  if (model%is_null() .or. all%is_null() .or. .not. publication%is_null()) error stop "handles"
  call world%barrier()

  if (world%rank() == 0) then
    call all%describe(1, listed, bytes=bytes, holders=holders)
    if (listed /= "net" .or. bytes < 8000000) error stop "the list of models"
    if (holders /= world%size()) error stop "the bindings of a model"
    call all%describe(2, listed)
    if (listed /= "") error stop "the end of the list"
    call all%describe(0, listed, stat=stat, errmsg=message)
    if (stat /= SYNCYTE_ERR_INDEX .or. index(message, "number is") == 0) error stop "before the list"
    call all%remove("net", stat=stat, errmsg=message)
    if (stat /= SYNCYTE_ERR_BUSY .or. index(message, "is bound by process") == 0) error stop "it is bound"
    call all%publish("broken", publication)
    call publication%add("bias", bias)
    call publication%start()
    call publication%fail(SYNCYTE_ERR_IO, "the disk is gone")
    call publication%destroy()
    print "(a)", "a model in all processes"
  end if
  call world%barrier()
  call model%destroy()
  call all%destroy()
  call world%destroy()
  call syncyte_finalize()

contains

  !> A name for this job's socket.
  subroutine one_name()
    integer :: clock

    call system_clock(clock)
    pid = clock
    call world%bcast(pid, 0)
    write (name, "(a, i0)") "fortran-models-", pid
  end subroutine one_name

end program models
