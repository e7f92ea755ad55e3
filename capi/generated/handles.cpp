// Generated from syncyte/*.h by bindings/generate; do not edit.
#include "guard.hpp"
#include "handle_tables.hpp"

using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_comm_retain(syncyte_comm_t comm) {
  return guarded("comm_retain", [&] { tables::comm().retain(comm, "comm"); });
}

syncyte_status_t syncyte_comm_release(syncyte_comm_t comm) {
  return guarded("comm_release", [&] { tables::comm().release(comm, "comm"); });
}

syncyte_status_t syncyte_comm_destroy(syncyte_comm_t* comm) {
  return guarded("comm_destroy", [&] { tables::comm().destroy(comm, "comm"); });
}

syncyte_status_t syncyte_cache_retain(syncyte_cache_t cache) {
  return guarded("cache_retain", [&] { tables::cache().retain(cache, "cache"); });
}

syncyte_status_t syncyte_cache_release(syncyte_cache_t cache) {
  return guarded("cache_release", [&] { tables::cache().release(cache, "cache"); });
}

syncyte_status_t syncyte_cache_destroy(syncyte_cache_t* cache) {
  return guarded("cache_destroy", [&] { tables::cache().destroy(cache, "cache"); });
}

syncyte_status_t syncyte_halo_retain(syncyte_halo_t halo) {
  return guarded("halo_retain", [&] { tables::halo().retain(halo, "halo"); });
}

syncyte_status_t syncyte_halo_release(syncyte_halo_t halo) {
  return guarded("halo_release", [&] { tables::halo().release(halo, "halo"); });
}

syncyte_status_t syncyte_halo_destroy(syncyte_halo_t* halo) {
  return guarded("halo_destroy", [&] { tables::halo().destroy(halo, "halo"); });
}

syncyte_status_t syncyte_reducer_retain(syncyte_reducer_t reducer) {
  return guarded("reducer_retain", [&] { tables::reducer().retain(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer) {
  return guarded("reducer_release", [&] { tables::reducer().release(reducer, "reducer"); });
}

syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer) {
  return guarded("reducer_destroy", [&] { tables::reducer().destroy(reducer, "reducer"); });
}

syncyte_status_t syncyte_window_retain(syncyte_window_t window) {
  return guarded("window_retain", [&] { tables::window().retain(window, "window"); });
}

syncyte_status_t syncyte_window_release(syncyte_window_t window) {
  return guarded("window_release", [&] { tables::window().release(window, "window"); });
}

syncyte_status_t syncyte_window_destroy(syncyte_window_t* window) {
  return guarded("window_destroy", [&] { tables::window().destroy(window, "window"); });
}

syncyte_status_t syncyte_tensor_retain(syncyte_tensor_t tensor) {
  return guarded("tensor_retain", [&] { tables::tensor().retain(tensor, "tensor"); });
}

syncyte_status_t syncyte_tensor_release(syncyte_tensor_t tensor) {
  return guarded("tensor_release", [&] { tables::tensor().release(tensor, "tensor"); });
}

syncyte_status_t syncyte_tensor_destroy(syncyte_tensor_t* tensor) {
  return guarded("tensor_destroy", [&] { tables::tensor().destroy(tensor, "tensor"); });
}

syncyte_status_t syncyte_kv_retain(syncyte_kv_t kv) {
  return guarded("kv_retain", [&] { tables::kv().retain(kv, "kv"); });
}

syncyte_status_t syncyte_kv_release(syncyte_kv_t kv) {
  return guarded("kv_release", [&] { tables::kv().release(kv, "kv"); });
}

syncyte_status_t syncyte_kv_destroy(syncyte_kv_t* kv) {
  return guarded("kv_destroy", [&] { tables::kv().destroy(kv, "kv"); });
}

syncyte_status_t syncyte_kv_worker_retain(syncyte_kv_worker_t worker) {
  return guarded("kv_worker_retain", [&] { tables::kv_worker().retain(worker, "worker"); });
}

syncyte_status_t syncyte_kv_worker_release(syncyte_kv_worker_t worker) {
  return guarded("kv_worker_release", [&] { tables::kv_worker().release(worker, "worker"); });
}

syncyte_status_t syncyte_kv_worker_destroy(syncyte_kv_worker_t* worker) {
  return guarded("kv_worker_destroy", [&] { tables::kv_worker().destroy(worker, "worker"); });
}
}
