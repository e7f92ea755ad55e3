/* SPDX-License-Identifier: BSD-3-Clause */
/* Subroutines for Fortran 77: external, objects are INTEGERs, dimensions in Fortran's order, cells and points from 1.
 * bindings/fortran/README.md describes them. An error ends the job. */
#include "subroutines.h"

#include <stdlib.h>

#include "descriptor.h"
#include "objects.h"

/* ---- start, communicators ---- */

void syncyte_init_(void) { f77_require(syncyte_init(NULL)); }

void syncyte_finalize_(void) { f77_require(syncyte_finalize()); }

void syncyte_comm_world_(int32_t* comm) {
  syncyte_comm_t made = NULL;
  f77_require(syncyte_comm_world(&made));
  *comm = f77_number(made, F77_COMM);
}

void syncyte_comm_from_mpi_(const int32_t* mpi_comm, int32_t* comm) {
  syncyte_comm_t made = NULL;
  f77_require(syncyte_comm_from_fortran(*mpi_comm, NULL, &made));
  *comm = f77_number(made, F77_COMM);
}

void syncyte_comm_to_mpi_(const int32_t* comm, int32_t* mpi_comm) {
  f77_require(syncyte_comm_to_fortran(f77_object(*comm, F77_COMM), mpi_comm));
}

void syncyte_comm_split_program_(const int32_t* comm, const char* name, int32_t* part, size_t length) {
  syncyte_comm_t made = NULL;
  char* const text = f77_text(name, length);
  f77_require(syncyte_comm_split_program(f77_object(*comm, F77_COMM), text, NULL, &made));
  free(text);
  *part = f77_number(made, F77_COMM);
}

/* ---- layouts ---- */

static void set_ghosts(syncyte_layout_options_t* options, int32_t ndim, int32_t ghosts) {
  for (int32_t axis = 0; axis < ndim && axis < SYNCYTE_MAX_NDIM; ++axis)
    options->ghosts_low[axis] = options->ghosts_high[axis] = ghosts;
}

void syncyte_layout_blocks_(const int32_t* comm, const int32_t* ndim, const int32_t* whole, const int32_t* first,
                            const int32_t* count, const int32_t* ghosts, int32_t* layout) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  syncyte_layout_t made = NULL;
  int64_t cells[SYNCYTE_MAX_NDIM] = {0}, firsts[SYNCYTE_MAX_NDIM] = {0}, counts[SYNCYTE_MAX_NDIM] = {0};
  int32_t length = *ndim; /* of firsts and counts; a rank without a block has none */
  f77_reversed(whole, *ndim, 0, cells);
  f77_reversed(first, *ndim, 1, firsts);
  f77_reversed(count, *ndim, 0, counts);
  for (int32_t axis = 0; axis < *ndim && axis < SYNCYTE_MAX_NDIM; ++axis)
    if (counts[axis] == 0) length = 0;
  set_ghosts(&options, *ndim, *ghosts);
  f77_require(syncyte_layout_create_blocks(f77_object(*comm, F77_COMM), *ndim, cells, length, firsts, length, counts,
                                           &options, &made));
  *layout = f77_number(made, F77_LAYOUT);
}

void syncyte_layout_like_(const int32_t* grid, const int32_t* shared, const int32_t* periodic, const int32_t* ghosts,
                          int32_t* layout) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  syncyte_layout_info_t info = {.struct_size = sizeof info};
  syncyte_layout_t const like = f77_object(*grid, F77_LAYOUT);
  syncyte_layout_t made = NULL;
  if (like != NULL) f77_require(syncyte_layout_describe(like, 0, 0, &info));
  for (int32_t i = 0; i < info.ndim; ++i) {
    options.shared[info.ndim - 1 - i] = shared[i];
    options.periodic[info.ndim - 1 - i] = periodic[i];
  }
  set_ghosts(&options, info.ndim, *ghosts);
  f77_require(syncyte_layout_like(like, &options, &made));
  *layout = f77_number(made, F77_LAYOUT);
}

/* Number of this rank's blocks, and the shape of the first one's array. */
static int64_t block_of(syncyte_layout_t layout, syncyte_buffer_t* block) {
  syncyte_layout_info_t info = {.struct_size = sizeof info};
  syncyte_comm_t comm = NULL;
  int32_t rank = 0;
  f77_require(syncyte_layout_comm(layout, &comm));
  f77_require(syncyte_comm_rank(comm, &rank));
  f77_require(syncyte_comm_destroy(&comm));
  f77_require(syncyte_layout_describe(layout, rank, 0, &info));
  block->ndim = info.ndim;
  for (int32_t axis = 0; axis < info.ndim; ++axis) block->shape[axis] = info.shape[axis];
  return info.blocks;
}

/* ---- bundles ---- */

void syncyte_bundle_create_(const int32_t* comm, int32_t* bundle) {
  syncyte_bundle_t made = NULL;
  f77_require(syncyte_bundle_create(f77_object(*comm, F77_COMM), &made));
  *bundle = f77_number(made, F77_BUNDLE);
}

void syncyte_bundle_add_(const int32_t* bundle, const char* name, const int32_t* layout, const int32_t* dtype,
                         const int32_t* dims, void* array, size_t length) {
  syncyte_buffer_t block = SYNCYTE_BUFFER_INIT;
  syncyte_layout_t const cut = f77_object(*layout, F77_LAYOUT);
  const int64_t count = cut == NULL ? 0 : block_of(cut, &block);
  char* const text = f77_text(name, length);
  if (count > 0) f77_part(array, *dtype, dims, &block);
  f77_require(syncyte_bundle_add(f77_object(*bundle, F77_BUNDLE), text, cut, *dtype, count, &block));
  free(text);
}

void syncyte_bundle_exchange_(const int32_t* bundle, const int32_t* depth) {
  f77_require(syncyte_bundle_exchange(f77_object(*bundle, F77_BUNDLE), *depth, 0, NULL));
}

void syncyte_bundle_exchange_some_(const int32_t* bundle, const int32_t* depth, const int32_t* fields,
                                   const int32_t* only) {
  f77_require(syncyte_bundle_exchange(f77_object(*bundle, F77_BUNDLE), *depth, *fields, only));
}

void syncyte_bundle_accumulate_(const int32_t* bundle, const int32_t* depth) {
  f77_require(syncyte_bundle_accumulate(f77_object(*bundle, F77_BUNDLE), *depth, 0, NULL));
}

void syncyte_bundle_sum_(const int32_t* bundle) {
  f77_require(syncyte_bundle_sum(f77_object(*bundle, F77_BUNDLE), 0, NULL));
}

/* ---- whole tensors by a layout ---- */

void syncyte_tensor_create_(const int32_t* comm, const int32_t* dtype, const int32_t* layout, const int32_t* slots,
                            const char* name, int32_t* tensor, size_t length) {
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  syncyte_tensor_t made = NULL;
  char* const text = f77_text(name, length);
  options.name = text;
  f77_require(syncyte_tensor_create_by_layout(f77_object(*comm, F77_COMM), *dtype, f77_object(*layout, F77_LAYOUT),
                                              *slots, &options, &made));
  free(text);
  *tensor = f77_number(made, F77_TENSOR);
}

void syncyte_tensor_open_(const int32_t* comm, const char* name, int32_t* tensor, size_t length) {
  syncyte_tensor_t made = NULL;
  char* const text = f77_text(name, length);
  f77_require(syncyte_tensor_open(f77_object(*comm, F77_COMM), text, &made));
  free(text);
  *tensor = f77_number(made, F77_TENSOR);
}

void syncyte_tensor_publish_(const int32_t* tensor, const int32_t* dims, void* array, const int32_t* step) {
  syncyte_buffer_t block = SYNCYTE_BUFFER_INIT, whole = SYNCYTE_BUFFER_INIT;
  syncyte_tensor_t const published = f77_object(*tensor, F77_TENSOR);
  syncyte_layout_t layout = NULL;
  int64_t count = 0;
  if (published != NULL) {
    f77_require(syncyte_tensor_describe(published, &whole));
    f77_require(syncyte_tensor_layout(published, &layout));
  }
  if (layout != NULL) count = block_of(layout, &block);
  if (count > 0) f77_part(array, whole.dtype, dims, &block);
  f77_require(syncyte_layout_destroy(&layout));
  f77_require(syncyte_tensor_publish(published, count, &block, *step));
}

void syncyte_tensor_take_(const int32_t* tensor, const int32_t* ndim, const int32_t* first, const int32_t* count,
                          const int32_t* dims, void* array, const int32_t* at_least, const int32_t* milliseconds,
                          int32_t* step, int32_t* is_late) {
  syncyte_buffer_t box = SYNCYTE_BUFFER_INIT, whole = SYNCYTE_BUFFER_INIT;
  syncyte_tensor_t const taken = f77_object(*tensor, F77_TENSOR);
  int64_t lower[SYNCYTE_MAX_NDIM] = {0}, newest = 0;
  box.ndim = *ndim;
  f77_reversed(first, *ndim, 1, lower);
  f77_reversed(count, *ndim, 0, box.shape);
  if (taken != NULL) f77_require(syncyte_tensor_describe(taken, &whole));
  for (int32_t i = 0; i < *ndim && i < SYNCYTE_MAX_NDIM; ++i)
    if (dims[i] < count[i])
      f77_require(
          fortran_wrong(SYNCYTE_ERR_SHAPE, "dims", i, "%d; expected at least %d, the box's extent", dims[i], count[i]));
  f77_part(array, taken == NULL ? SYNCYTE_FLOAT64 : whole.dtype, dims, &box);
  const syncyte_status_t status =
      syncyte_tensor_take(taken, *ndim, lower, *at_least, *milliseconds / 1e3, &box, &newest);
  *is_late = status == SYNCYTE_ERR_TIMEOUT;
  if (*is_late != 0) return;
  f77_require(status);
  *step = f77_step(newest);
}

/* ---- the end of objects ---- */

void syncyte_destroy_(int32_t* number) {
  const f77_kind_t kind = f77_kind(*number);
  if (kind == F77_NONE) return;
  void* object = f77_object(*number, kind);
  f77_forget(*number);
  *number = 0;
  switch (kind) {
    case F77_COMM:
      f77_require(syncyte_comm_destroy((syncyte_comm_t*)&object));
      break;
    case F77_LAYOUT:
      f77_require(syncyte_layout_destroy((syncyte_layout_t*)&object));
      break;
    case F77_BUNDLE:
      f77_require(syncyte_bundle_destroy((syncyte_bundle_t*)&object));
      break;
    default:
      f77_require(syncyte_tensor_destroy((syncyte_tensor_t*)&object));
  }
}
