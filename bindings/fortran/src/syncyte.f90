! SPDX-License-Identifier: BSD-3-Clause
!> Syncyte for Fortran: one memory for all the ranks of an MPI job. See README.md of this folder.
module syncyte
  use syncyte_caches, only: syncyte_cache
  use syncyte_comms, only: syncyte_comm
  use syncyte_constants
  use syncyte_halos, only: syncyte_halo
  use syncyte_layouts, only: syncyte_bundle, syncyte_layout
  use syncyte_named_models, only: syncyte_model, syncyte_models, syncyte_publication
  use syncyte_requests, only: syncyte_request, syncyte_wait_all, syncyte_wait_any
  use syncyte_runtime, syncyte_init => start, syncyte_finalize => finish_all
  use syncyte_stores, only: syncyte_store, syncyte_store_worker
  use syncyte_tensors, only: syncyte_tensor
  use syncyte_windows, only: syncyte_window
  implicit none
  public
end module syncyte
