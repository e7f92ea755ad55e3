/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts and bundles for Fortran: dimensions in Fortran's order, which is C's reversed; cells and points from 1. */
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

/* A number for each dimension, in C's order; a scalar stands for all. */
static syncyte_status_t per_dimension(const CFI_cdesc_t* given, const char* name, int32_t ndim, int64_t* values) {
  int32_t count = 0;
  syncyte_status_t status = fortran_reversed(given, name, &count, values);
  if (status != SYNCYTE_SUCCESS) return status;
  if (given->rank != 0 && count != ndim)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of %d elements; expected %d, one for each dimension", count,
                         ndim);
  for (int32_t axis = 1; given->rank == 0 && axis < ndim; ++axis) values[axis] = values[0];
  return SYNCYTE_SUCCESS;
}

/* Sets the flags of the dimensions that are listed. */
static syncyte_status_t flag_dimensions(const CFI_cdesc_t* given, const char* name, int32_t ndim, int32_t* flags) {
  int64_t listed[SYNCYTE_MAX_NDIM] = {0};
  int32_t count = 0;
  if (given == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_reversed(given, name, &count, listed);
  for (int32_t i = 0; status == SYNCYTE_SUCCESS && i < count; ++i) {
    if (listed[i] < 1 || listed[i] > ndim)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, count - 1 - i, "%lld; expected a dimension, 1 to %d",
                           (long long)listed[i], ndim);
    int32_t* const flag = &flags[ndim - listed[i]];
    if (*flag != 0)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, count - 1 - i, "%lld; expected each dimension once",
                           (long long)listed[i]);
    *flag = 1;
  }
  return status;
}

static syncyte_status_t read_options(int32_t ndim, const CFI_cdesc_t* ghosts, const CFI_cdesc_t* ghosts_high,
                                     const CFI_cdesc_t* shared, const CFI_cdesc_t* periodic, syncyte_truth_t truth,
                                     syncyte_layout_options_t* options) {
  syncyte_status_t status = SYNCYTE_SUCCESS;
  options->truth = truth;
  if (ghosts != NULL) status = per_dimension(ghosts, "ghosts", ndim, options->ghosts_low);
  if (status == SYNCYTE_SUCCESS && (ghosts_high != NULL || ghosts != NULL))
    status = ghosts_high != NULL ? per_dimension(ghosts_high, "ghosts_high", ndim, options->ghosts_high)
                                 : per_dimension(ghosts, "ghosts", ndim, options->ghosts_high);
  if (status == SYNCYTE_SUCCESS) status = flag_dimensions(shared, "shared", ndim, options->shared);
  return status != SYNCYTE_SUCCESS ? status : flag_dimensions(periodic, "periodic", ndim, options->periodic);
}

/* A mesh in C's order, and the axis that each of its dimensions cuts. */
typedef struct {
  int32_t ndim;
  int32_t ranks[SYNCYTE_MAX_NDIM], axes[SYNCYTE_MAX_NDIM];
} mesh_t;

static syncyte_status_t read_mesh(syncyte_comm_t comm, int32_t ndim, const CFI_cdesc_t* mesh, const CFI_cdesc_t* axes,
                                  mesh_t* result) {
  int64_t numbers[SYNCYTE_MAX_NDIM] = {0};
  int64_t places = 1;
  int32_t size = 0, count = 1;
  syncyte_status_t status = syncyte_comm_size(comm, &size);
  numbers[0] = size;
  if (status == SYNCYTE_SUCCESS && mesh != NULL) status = fortran_reversed(mesh, "mesh", &count, numbers);
  result->ndim = count;
  for (int32_t d = 0; status == SYNCYTE_SUCCESS && d < count; ++d) {
    if (numbers[d] < 1 || numbers[d] > size)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "mesh", count - 1 - d, "%lld; expected 1 to %d, the ranks",
                           (long long)numbers[d], size);
    places *= numbers[d];
    if (places > size)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "product of mesh", -1, "%lld or more; expected at most %d, the ranks",
                           (long long)places, size);
    result->ranks[d] = (int32_t)numbers[d];
    result->axes[d] = d;
  }
  if (status != SYNCYTE_SUCCESS || axes == NULL) return status;
  int32_t given = 0;
  status = fortran_reversed(axes, "axes", &given, numbers);
  if (status == SYNCYTE_SUCCESS && given != count)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "axes", -1, "of %d elements; expected %d, one for each dimension of mesh",
                         given, count);
  for (int32_t d = 0; status == SYNCYTE_SUCCESS && d < count; ++d) {
    if (numbers[d] < 0 || numbers[d] > ndim)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "axes", count - 1 - d, "%lld; expected a dimension of the array, or 0",
                           (long long)numbers[d]);
    result->axes[d] = numbers[d] == 0 ? -1 : ndim - (int32_t)numbers[d];
  }
  return status;
}

/* Lengths of the parts of all cut dimensions, in the order of C's axes; the caller frees them. */
static syncyte_status_t read_lengths(const CFI_cdesc_t* lengths, int32_t ndim, const mesh_t* mesh, int64_t* count,
                                     int64_t** result) {
  int64_t parts[SYNCYTE_MAX_NDIM] = {0}, wanted = 0;
  for (int32_t d = 0; d < mesh->ndim; ++d) {
    if (mesh->axes[d] < 0) continue;
    int64_t* const of_axis = &parts[mesh->axes[d]];
    *of_axis = (*of_axis == 0 ? 1 : *of_axis) * mesh->ranks[d];
  }
  for (int32_t axis = 0; axis < ndim; ++axis) wanted += parts[axis];
  *count = fortran_count(lengths);
  if (*count != wanted)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "lengths", -1,
                         "of %lld elements; expected %lld, one for each part of the dimensions that are cut",
                         (long long)*count, (long long)wanted);
  int64_t* const given = malloc((size_t)(*count + 1) * 2 * sizeof *given);
  if (given == NULL) return fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for %lld lengths", (long long)*count);
  *result = given;
  const syncyte_status_t status = fortran_integers(lengths, "lengths", 0, given + *count);
  int64_t from = *count;
  for (int32_t axis = ndim - 1; status == SYNCYTE_SUCCESS && axis >= 0; --axis) { /* dimensions 1, 2, ... */
    int64_t to = 0;
    for (int32_t before = 0; before < axis; ++before) to += parts[before];
    for (int64_t part = 0; part < parts[axis]; ++part) given[to + part] = given[from++];
  }
  return status;
}

syncyte_status_t fortran_layout_mesh(syncyte_comm_t comm, const CFI_cdesc_t* cells, const CFI_cdesc_t* mesh,
                                     const CFI_cdesc_t* axes, const CFI_cdesc_t* lengths, const CFI_cdesc_t* ghosts,
                                     const CFI_cdesc_t* ghosts_high, const CFI_cdesc_t* shared,
                                     const CFI_cdesc_t* periodic, syncyte_truth_t truth, int32_t ceil,
                                     const CFI_cdesc_t* block, int32_t weighted, syncyte_layout_t* layout) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  int64_t extents[SYNCYTE_MAX_NDIM] = {0}, count = 0, *parts = NULL;
  int32_t ndim = 0;
  mesh_t on = {0};
  syncyte_status_t status = fortran_reversed(cells, "cells", &ndim, extents);
  if (status == SYNCYTE_SUCCESS) status = read_options(ndim, ghosts, ghosts_high, shared, periodic, truth, &options);
  if (status == SYNCYTE_SUCCESS && block != NULL) status = fortran_integer(block, "block", &options.block);
  if (status == SYNCYTE_SUCCESS) status = read_mesh(comm, ndim, mesh, axes, &on);
  if (status == SYNCYTE_SUCCESS && lengths != NULL) status = read_lengths(lengths, ndim, &on, &count, &parts);
  options.ceil = ceil;
  options.weighted = weighted;
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_layout_create_mesh(comm, ndim, extents, on.ndim, on.ranks, count, parts, on.ndim, on.axes,
                                        &options, layout);
  else
    status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm, status, "layout_create_mesh");
  free(parts);
  return status;
}

/* Numbers of all blocks, block by block in C's order of axes, less `base`; the caller frees them. */
static syncyte_status_t read_boxes(const CFI_cdesc_t* given, const char* name, int32_t ndim, int64_t base,
                                   int64_t* length, int64_t** result) {
  *length = given == NULL ? 0 : fortran_count(given);
  if (*length == 0) return SYNCYTE_SUCCESS;
  if (ndim == 0 || *length % ndim != 0)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of %lld elements; expected %d for each block",
                         (long long)*length, ndim);
  int64_t* const numbers = malloc((size_t)*length * 2 * sizeof *numbers);
  if (numbers == NULL) return fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for %lld numbers", (long long)*length);
  *result = numbers;
  const syncyte_status_t status = fortran_integers(given, name, 0, numbers + *length);
  for (int64_t i = 0; status == SYNCYTE_SUCCESS && i < *length; ++i) {
    if (numbers[*length + i] < base)
      return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, i, "%lld; expected %lld or more",
                           (long long)numbers[*length + i], (long long)base);
    numbers[i] = numbers[*length + i / ndim * ndim + ndim - 1 - i % ndim] - base;
  }
  return status;
}

syncyte_status_t fortran_layout_blocks(syncyte_comm_t comm, const CFI_cdesc_t* whole, const CFI_cdesc_t* first,
                                       const CFI_cdesc_t* count, const CFI_cdesc_t* ghosts,
                                       const CFI_cdesc_t* ghosts_high, const CFI_cdesc_t* shared,
                                       const CFI_cdesc_t* periodic, syncyte_truth_t truth, syncyte_layout_t* layout) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  int64_t extents[SYNCYTE_MAX_NDIM] = {0}, *firsts = NULL, *counts = NULL, first_length = 0, count_length = 0;
  int32_t ndim = 0;
  syncyte_status_t status = fortran_reversed(whole, "whole", &ndim, extents);
  if (status == SYNCYTE_SUCCESS) status = read_options(ndim, ghosts, ghosts_high, shared, periodic, truth, &options);
  if (status == SYNCYTE_SUCCESS) status = read_boxes(first, "first", ndim, 1, &first_length, &firsts);
  if (status == SYNCYTE_SUCCESS) status = read_boxes(count, "count", ndim, 0, &count_length, &counts);
  if (status == SYNCYTE_SUCCESS && first_length != count_length)
    status = fortran_wrong(SYNCYTE_ERR_SHAPE, "count", -1, "of %lld elements; expected %lld, as many as first",
                           (long long)count_length, (long long)first_length);
  if (status == SYNCYTE_SUCCESS)
    status =
        syncyte_layout_create_blocks(comm, ndim, extents, first_length, firsts, count_length, counts, &options, layout);
  else
    status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm, status, "layout_create_blocks");
  free(firsts);
  free(counts);
  return status;
}

syncyte_status_t fortran_layout_indices(syncyte_comm_t comm, const CFI_cdesc_t* whole, const CFI_cdesc_t* points,
                                        const CFI_cdesc_t* ghosts, syncyte_truth_t truth, syncyte_layout_t* layout) {
  int64_t extents[SYNCYTE_MAX_NDIM] = {0}, *indices = NULL, ghost_count = 0;
  const int64_t count = points == NULL ? 0 : fortran_count(points);
  int32_t ndim = 0;
  syncyte_status_t status = fortran_reversed(whole, "whole", &ndim, extents);
  if (status == SYNCYTE_SUCCESS && ghosts != NULL) status = fortran_integer(ghosts, "ghosts", &ghost_count);
  if (status == SYNCYTE_SUCCESS && count > 0) {
    indices = malloc((size_t)count * sizeof *indices);
    status = indices == NULL ? fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for %lld numbers", (long long)count)
                             : fortran_integers(points, "points", 0, indices);
  }
  for (int64_t i = 0; status == SYNCYTE_SUCCESS && i < count; ++i)
    if (indices[i]-- < 1 || indices[i] >= extents[0])
      status = fortran_wrong(SYNCYTE_ERR_ARGUMENT, "points", i, "%lld; expected 1 to %lld", (long long)indices[i] + 1,
                             (long long)extents[0]);
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_layout_create_indices(comm, ndim, extents, points != NULL, &count, points != NULL, &ghost_count,
                                           count, indices, truth, layout);
  else
    status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm, status, "layout_create_indices");
  free(indices);
  return status;
}

/* Tells all ranks of a communicator, a new reference to which has been fetched, the error. */
static syncyte_status_t refuse(fortran_scope_t scope, syncyte_comm_t comm, syncyte_status_t status,
                               const char* operation) {
  const syncyte_status_t agreed = fortran_refuse(scope, comm, status, operation);
  (void)syncyte_comm_destroy(&comm);
  return agreed;
}

syncyte_status_t fortran_layout_like(syncyte_layout_t grid, const CFI_cdesc_t* ghosts, const CFI_cdesc_t* ghosts_high,
                                     const CFI_cdesc_t* shared, const CFI_cdesc_t* periodic, syncyte_truth_t truth,
                                     syncyte_layout_t* layout) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  syncyte_layout_info_t info = {.struct_size = sizeof info};
  syncyte_comm_t comm = NULL;
  syncyte_status_t status = syncyte_layout_describe(grid, 0, 0, &info);
  if (status != SYNCYTE_SUCCESS) return status;
  status = read_options(info.ndim, ghosts, ghosts_high, shared, periodic, truth, &options);
  if (status == SYNCYTE_SUCCESS) return syncyte_layout_like(grid, &options, layout);
  (void)syncyte_layout_comm(grid, &comm);
  return refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm, status, "layout_like");
}

/* An array that may be absent, and its type if dtype is 0; `count`: 1, or 0 without it. */
static syncyte_status_t read_array(const CFI_cdesc_t* array, const char* name, syncyte_dtype_t* dtype, int64_t* count,
                                   syncyte_buffer_t* buffer) {
  *count = array != NULL;
  if (array == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_buffer_as(array, name, *dtype, buffer);
  if (status == SYNCYTE_SUCCESS && *dtype == 0) *dtype = buffer->dtype;
  return status;
}

static syncyte_status_t no_type(void) {
  return fortran_wrong(SYNCYTE_ERR_ARGUMENT, "dtype", -1,
                       "absent; expected an element type, because there is no array");
}

/* The first point of a box, from 1 in Fortran's order. */
static syncyte_status_t read_first(syncyte_layout_t layout, const CFI_cdesc_t* first, int64_t* point,
                                   syncyte_relocate_options_t* options) {
  syncyte_layout_info_t info = {.struct_size = sizeof info};
  int32_t length = 0;
  syncyte_status_t status = syncyte_layout_describe(layout, 0, 0, &info);
  if (status == SYNCYTE_SUCCESS) status = fortran_reversed(first, "first", &length, point);
  if (status != SYNCYTE_SUCCESS) return status;
  if (length != info.ndim)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "length of first", -1, "%d; expected %d, one for each dimension", length,
                         info.ndim);
  for (int32_t d = 0; d < length; ++d) point[d] -= 1;
  options->first = point;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_layout_pieces(syncyte_layout_t layout, const CFI_cdesc_t* point, int32_t* rank, int64_t* index,
                                       int32_t* block) {
  int64_t first[SYNCYTE_MAX_NDIM] = {0}, one[SYNCYTE_MAX_NDIM], found = 0;
  syncyte_relocate_options_t ignored = SYNCYTE_RELOCATE_OPTIONS_INIT;
  syncyte_layout_piece_t piece = {.rank = -1};
  syncyte_layout_info_t info = {.struct_size = sizeof info};
  syncyte_status_t status = syncyte_layout_describe(layout, 0, 0, &info);
  if (status == SYNCYTE_SUCCESS) status = read_first(layout, point, first, &ignored);
  for (int32_t d = 0; d < info.ndim; ++d) one[d] = 1;
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_layout_pieces(layout, info.ndim, first, info.ndim, one, 1, &piece, &found);
  if (status != SYNCYTE_SUCCESS) return status;
  *rank = piece.rank;
  *block = piece.block;
  for (int32_t d = 0; d < info.ndim; ++d) index[d] = piece.index[info.ndim - 1 - d];
  return SYNCYTE_SUCCESS;
}

/* The words between commas in reverse order; the caller frees them. */
static char* reversed_words(const char* words) {
  const size_t length = strlen(words);
  char* const result = malloc(length + 1);
  if (result == NULL) return NULL;
  char* to = result + length;
  *to = '\0';
  for (const char* from = words;; ++from) {
    const size_t word = strcspn(from, ",");
    to -= word;
    memcpy(to, from, word);
    from += word;
    if (*from == '\0') return result;
    *--to = ',';
  }
}

syncyte_status_t fortran_layout_name_axes(syncyte_layout_t layout, const char* names, const char* units) {
  char* const in_order = reversed_words(names);
  char* const units_in_order = reversed_words(units == NULL ? "" : units);
  const syncyte_status_t status = in_order == NULL || units_in_order == NULL
                                      ? fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for the names of axes")
                                      : syncyte_layout_name_axes(layout, in_order, units_in_order);
  free(in_order);
  free(units_in_order);
  return status;
}

static syncyte_status_t relocate(int is_adjoint, syncyte_layout_t layout, const CFI_cdesc_t* array, syncyte_layout_t to,
                                 const CFI_cdesc_t* target, syncyte_dtype_t dtype, const CFI_cdesc_t* buffer_bytes,
                                 const CFI_cdesc_t* first) {
  syncyte_relocate_options_t options = SYNCYTE_RELOCATE_OPTIONS_INIT;
  syncyte_buffer_t from, into;
  int64_t point[SYNCYTE_MAX_NDIM];
  int64_t count = 0, target_count = 0;
  syncyte_comm_t comm = NULL;
  syncyte_status_t status = read_array(array, "array", &dtype, &count, &from);
  if (status == SYNCYTE_SUCCESS) status = read_array(target, "target", &dtype, &target_count, &into);
  if (status == SYNCYTE_SUCCESS && dtype == 0) status = no_type();
  if (status == SYNCYTE_SUCCESS && buffer_bytes != NULL)
    status = fortran_integer(buffer_bytes, "buffer_bytes", &options.buffer_bytes);
  if (status == SYNCYTE_SUCCESS && first != NULL) status = read_first(layout, first, point, &options);
  if (status == SYNCYTE_SUCCESS && is_adjoint)
    return syncyte_layout_relocate_adjoint(layout, dtype, count, to, target_count, &into, &options, &from);
  if (status == SYNCYTE_SUCCESS)
    return syncyte_layout_relocate(layout, dtype, count, &from, to, target_count, &options, &into);
  const syncyte_status_t found = syncyte_layout_comm(layout, &comm);
  if (found != SYNCYTE_SUCCESS) return found;
  return refuse(FORTRAN_ERROR_EVERYWHERE, comm, status, is_adjoint ? "layout_relocate_adjoint" : "layout_relocate");
}

syncyte_status_t fortran_layout_relocate(syncyte_layout_t layout, const CFI_cdesc_t* array, syncyte_layout_t to,
                                         CFI_cdesc_t* target, syncyte_dtype_t dtype, const CFI_cdesc_t* buffer_bytes,
                                         const CFI_cdesc_t* first) {
  return relocate(0, layout, array, to, target, dtype, buffer_bytes, first);
}

syncyte_status_t fortran_layout_relocate_adjoint(syncyte_layout_t layout, const CFI_cdesc_t* target,
                                                 syncyte_layout_t to, CFI_cdesc_t* array, syncyte_dtype_t dtype,
                                                 const CFI_cdesc_t* buffer_bytes, const CFI_cdesc_t* first) {
  return relocate(1, layout, array, to, target, dtype, buffer_bytes, first);
}

syncyte_status_t fortran_bundle_add(syncyte_bundle_t bundle, const char* name, CFI_cdesc_t* array,
                                    syncyte_layout_t layout, syncyte_dtype_t dtype) {
  syncyte_buffer_t buffer;
  int64_t count = 0;
  syncyte_comm_t comm = NULL;
  syncyte_status_t status = read_array(array, "array", &dtype, &count, &buffer);
  if (status == SYNCYTE_SUCCESS && dtype == 0) status = no_type();
  if (status == SYNCYTE_SUCCESS) return syncyte_bundle_add(bundle, name, layout, dtype, count, &buffer);
  const syncyte_status_t found = syncyte_bundle_comm(bundle, &comm);
  return found != SYNCYTE_SUCCESS ? found : refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm, status, "bundle_add");
}

/* Element type of a field of this name; 0 if there is none. */
static syncyte_dtype_t dtype_of(syncyte_bundle_t bundle, const char* name) {
  int64_t count = 0;
  (void)syncyte_bundle_fields(bundle, &count);
  for (int64_t number = 0; number < count; ++number) {
    const char* found = NULL;
    syncyte_layout_t layout = NULL;
    syncyte_dtype_t dtype = 0;
    if (syncyte_bundle_field(bundle, number, &found, &layout, &dtype) != SYNCYTE_SUCCESS) return 0;
    (void)syncyte_layout_destroy(&layout);
    if (strcmp(found, name) == 0) return dtype;
  }
  return 0;
}

/* The array may carry the field's elements in another type, as when the field was added. */
syncyte_status_t fortran_bundle_set_array(syncyte_bundle_t bundle, const char* name, CFI_cdesc_t* array) {
  syncyte_buffer_t buffer;
  syncyte_dtype_t dtype = dtype_of(bundle, name);
  int64_t count = 0;
  const syncyte_status_t status = read_array(array, "array", &dtype, &count, &buffer);
  return status != SYNCYTE_SUCCESS ? status : syncyte_bundle_set_arrays(bundle, name, count, &buffer);
}
