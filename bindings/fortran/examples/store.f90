! SPDX-License-Identifier: BSD-3-Clause
!> The parameter store: values under keys, which all ranks pull, push and set. Run: mpirun -np 3 ./store
program store
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_store) :: parameters
  type(syncyte_store_worker) :: worker
  type(syncyte_request) :: request
  real(real32), asynchronous :: values(4, 2)
  real(real32), asynchronous :: ones(4, 3) = 1, found(4, 3)
  integer :: keys(2), owners(2), homes(2), flags(2), ranks, pulled, active, count
  integer(int64) :: lengths(2), sample, drawn(2), distinct(3), inverse(3)
  logical :: is_local

  call syncyte_init()
  call world%from_world()
  ranks = world%size()
  call parameters%create(world, 1000, 4, name="parameters")   ! keys 0 to 999 of 4 values, zeros
  call parameters%worker(worker)                              ! one for each thread
  if (parameters%is_null() .or. worker%is_null()) error stop "create"
  if (parameters%keys() /= 1000) error stop "1000 keys"
  keys = [7, 999]
  call parameters%owner(keys, owners)
  call parameters%lengths(keys, lengths)

  ! All ranks add 1 to the values of two keys; none of the adds is lost
  if (world%rank() == 0) call worker%set(keys, reshape([real(real32) :: 0, 0, 0, 0, 10, 10, 10, 10], [4, 2]))
  call worker%barrier()
  values = 1
  call worker%push(keys, values)
  call worker%barrier()
  call worker%pull(keys, values)
  if (any(nint(values(:, 1)) /= ranks) .or. any(nint(values(:, 2)) /= 10 + ranks)) error stop "pull"
  call worker%pull_if_local(keys, values, is_local)
  call worker%barrier()

  ! Started forms: other work may be done until the requests end
  values = 1
  call worker%ipush(keys, values, request)
  call request%wait()
  call worker%ipull(keys, values, request)
  call request%wait()
  call worker%flush()
  call worker%barrier()
  call worker%iset(keys, values, request)
  call request%wait()

  ! Keys may repeat: each travels once, and values of repeats are added first. A prefetch gives the next pull its values
  call worker%push_unique([5, 6, 5], ones)
  call worker%ipush_unique([5, 6, 5], ones, request)
  call request%wait()
  call worker%barrier()
  call worker%prefetch([5, 6, 5])
  call worker%pull_unique([5, 6, 5], distinct, inverse, found, count)
  if (count /= 2 .or. any(inverse /= [1, 2, 1]) .or. nint(found(1, 1)) /= 4*ranks) error stop "pull_unique"
  call worker%ipull_unique([5, 6, 5], distinct, inverse, found, count, request)
  call request%wait()
  call worker%drop_prefetches()
  call worker%barrier()

  ! Keys move to the node that uses them; all others find them there
  if (world%rank() == 0) call worker%localize(keys)
  call worker%barrier()
  call parameters%is_local(keys, flags)
  call parameters%locate(keys, homes)
  if (world%rank() == 0 .and. any(flags /= 1)) error stop "localize"
  if (any(homes < 0) .or. any(homes >= ranks)) error stop "locate"
  call parameters%adopt_last(keys, flags)   ! after a death; none of them is lost here
  if (any(flags /= 0)) error stop "adopt_last"
  call worker%ilocalize(keys, request)
  call request%wait()

  ! The worker tells which keys it will use, and pulls samples of keys
  call worker%intent(keys, worker%clock() + 1)
  call worker%advance_clock()
  call parameters%set_sampling(max_key=1000, scheme=SYNCYTE_STORE_PREPARED)
  call worker%prepare_sample(5, worker%clock(), sample)
  call worker%pull_sample(sample, drawn, values)
  call worker%ipull_sample(sample, drawn, values, request)
  call request%wait()
  call worker%finish_sample(sample)
  call worker%info(pulled_keys=pulled, active_intents=active)
  if (pulled < 8 .or. active > 7) error stop "info"
  call parameters%sync()
  if (world%rank() == 0) print "(a, i0, a)", "a store of ", parameters%keys(), " keys"
  call worker%destroy()
  call parameters%destroy()
  call world%destroy()
  call syncyte_finalize()
end program store
