// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "syncyte/base.h"

struct syncyte_bind_options_t;
struct syncyte_cache_rendezvous_t;
struct syncyte_cache_sizes_t;
struct syncyte_collective_options_t;
struct syncyte_comm_options_t;
struct syncyte_device_use_t;
struct syncyte_fact_t;
struct syncyte_halo_options_t;
struct syncyte_init_options_t;
struct syncyte_layout_info_t;
struct syncyte_layout_options_t;
struct syncyte_memory_stats_t;
struct syncyte_message_options_t;
struct syncyte_message_status_t;
struct syncyte_model_info_t;
struct syncyte_model_tensor_t;
struct syncyte_models_options_t;
struct syncyte_optimizer_options_t;
struct syncyte_publication_options_t;
struct syncyte_published_t;
struct syncyte_reducer_options_t;
struct syncyte_relocate_options_t;
struct syncyte_store_options_t;
struct syncyte_store_sampling_t;
struct syncyte_store_worker_info_t;
struct syncyte_tensor_options_t;
struct syncyte_topology_t;
struct syncyte_window_options_t;

namespace syncyte::base {

// Bytes of each struct of the C interface in the first release. They never change: callers with a shorter struct are
// refused, all others are served (base/struct_size.hpp). A new struct gets its line here; 0: it has none.
template <class Struct>
inline constexpr std::size_t first_size = 0;

template <>
inline constexpr std::size_t first_size<syncyte_bind_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_buffer_t> = SYNCYTE_BUFFER_FIRST_SIZE;
template <>
inline constexpr std::size_t first_size<syncyte_cache_rendezvous_t> = 48;
template <>
inline constexpr std::size_t first_size<syncyte_cache_sizes_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_collective_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_comm_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_error_fields_t> = 80;
template <>
inline constexpr std::size_t first_size<syncyte_device_use_t> = 32;
template <>
inline constexpr std::size_t first_size<syncyte_fact_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_halo_options_t> = 16;
template <>
inline constexpr std::size_t first_size<syncyte_init_options_t> = 16;
template <>
inline constexpr std::size_t first_size<syncyte_layout_info_t> = 208;
template <>
inline constexpr std::size_t first_size<syncyte_layout_options_t> = 216;
template <>
inline constexpr std::size_t first_size<syncyte_memory_stats_t> = 48;
template <>
inline constexpr std::size_t first_size<syncyte_message_options_t> = 32;
template <>
inline constexpr std::size_t first_size<syncyte_message_status_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_model_info_t> = 56;
template <>
inline constexpr std::size_t first_size<syncyte_model_tensor_t> = 184;
template <>
inline constexpr std::size_t first_size<syncyte_models_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_operation_stats_t> = 48;
template <>
inline constexpr std::size_t first_size<syncyte_optimizer_options_t> = 40;
template <>
inline constexpr std::size_t first_size<syncyte_publication_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_published_t> = 184;
template <>
inline constexpr std::size_t first_size<syncyte_reducer_options_t> = 16;
template <>
inline constexpr std::size_t first_size<syncyte_relocate_options_t> = 16;
template <>
inline constexpr std::size_t first_size<syncyte_store_options_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_store_sampling_t> = 64;
template <>
inline constexpr std::size_t first_size<syncyte_store_worker_info_t> = 80;
template <>
inline constexpr std::size_t first_size<syncyte_tensor_options_t> = 32;
template <>
inline constexpr std::size_t first_size<syncyte_topology_t> = 24;
template <>
inline constexpr std::size_t first_size<syncyte_trace_event_t> = 72;
template <>
inline constexpr std::size_t first_size<syncyte_window_options_t> = 24;

}  // namespace syncyte::base
