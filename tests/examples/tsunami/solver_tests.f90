! SPDX-License-Identifier: BSD-3-Clause
!> All tests of the solver, on any number of ranks.
program solver_tests
  use mpi_f08, only: MPI_Finalize, MPI_Init
  use syncyte, only: syncyte_finalize, syncyte_init
  use checks, only: failures
  use test_dam_break, only: test_ritter
  use test_inputs, only: test_bathymetry, test_random, test_scenarios
  use test_water, only: test_lake_at_rest, test_mass, test_ranks
  implicit none

  call MPI_Init()
  call syncyte_init()
  call test_bathymetry()
  call test_random()
  call test_scenarios()
  call test_lake_at_rest(walls=.true.)
  call test_lake_at_rest(walls=.false.)
  call test_mass()
  call test_ranks(walls=.true.)
  call test_ranks(walls=.false.)
  call test_ritter(along_y=.false.)
  call test_ritter(along_y=.true.)
  call syncyte_finalize()
  call MPI_Finalize()
  if (failures > 0) error stop 1
end program solver_tests
