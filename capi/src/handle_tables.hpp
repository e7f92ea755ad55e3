// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>

#include "comm/communicator.hpp"
#include "handle_table.hpp"
#include "syncyte/bundle.h"
#include "syncyte/cache.h"
#include "syncyte/comm.h"
#include "syncyte/halo.h"
#include "syncyte/layout.h"
#include "syncyte/models.h"
#include "syncyte/reducer.h"
#include "syncyte/store.h"
#include "syncyte/tensor.h"
#include "syncyte/window.h"
#include "trace.hpp"

// clang-format off
namespace syncyte::cache { class model; class models; class publication; class region; }
namespace syncyte::collectives { class shared_layout; }
namespace syncyte::halo { class bundle; class grid_halo; }
namespace syncyte::kv { class store; class worker; }
namespace syncyte::reducer { class bucket_reducer; }
namespace syncyte::tensor { class whole_tensor; }
namespace syncyte::window { class window; }
// clang-format on

namespace syncyte::capi {

/// The table of one type of handle; messages call the object `name`. It is leaked, because static destructors may drop
/// handles.
template <class Handle, class Object>
handle_table<Handle, Object>& table_of(const char* name) {
  static auto* const table = new handle_table<Handle, Object>(name);
  return *table;
}

/// Each table has the name of its handle's type without "syncyte_" and "_t", which generated code relies on.
namespace tables {
inline auto& bundle() { return table_of<syncyte_bundle_t, halo::bundle>("bundle"); }
inline auto& cache() { return table_of<syncyte_cache_t, cache::region>("shared cache"); }
inline auto& comm() { return table_of<syncyte_comm_t, comm::communicator>("communicator"); }
inline auto& halo() { return table_of<syncyte_halo_t, halo::grid_halo>("halo"); }
inline auto& layout() { return table_of<syncyte_layout_t, collectives::shared_layout>("layout"); }
inline auto& model() { return table_of<syncyte_model_t, cache::model>("bound model"); }
inline auto& models() { return table_of<syncyte_models_t, cache::models>("set of models"); }
inline auto& publication() { return table_of<syncyte_publication_t, cache::publication>("publication"); }
inline auto& store() { return table_of<syncyte_store_t, kv::store>("store"); }
inline auto& store_worker() { return table_of<syncyte_store_worker_t, kv::worker>("worker of a store"); }
inline auto& reducer() { return table_of<syncyte_reducer_t, reducer::bucket_reducer>("reducer"); }
inline auto& tensor() { return table_of<syncyte_tensor_t, tensor::whole_tensor>("tensor"); }
inline auto& window() { return table_of<syncyte_window_t, window::window>("window"); }
}  // namespace tables

/// The object of a C argument. Records its communicator, or itself if it is one, for the trace. Throws
/// SYNCYTE_ERR_HANDLE.
template <class Handle, class Object>
std::shared_ptr<Object> find_traced(const handle_table<Handle, Object>& table, Handle handle, const char* argument) {
  auto found = table.find(handle, argument);
  if constexpr (std::is_same_v<Object, comm::communicator>)
    trace_comm(found->name());
  else
    trace_comm(found->comm()->name());
  return found;
}

/// A handle that holds a reference to the communicator; null gives a null handle. The handle's number is equal for all
/// handles of a communicator, on all its ranks. It is fixed for the world and self, and random for others, so that it
/// is not valid in another job.
syncyte_comm_t handle_of(std::shared_ptr<comm::communicator> comm);

/// The communicator of a C argument, which it also records for the trace; throws SYNCYTE_ERR_HANDLE.
inline auto find_comm(syncyte_comm_t comm) { return find_traced(tables::comm(), comm, "comm"); }

/// Options of a new communicator. An error in them, or in the output parameter, is stored; the collective that makes
/// the communicator reports it on all ranks.
comm::communicator_options comm_options(const syncyte_comm_options_t* given, const syncyte_comm_t* result,
                                        const char* argument);

}  // namespace syncyte::capi
