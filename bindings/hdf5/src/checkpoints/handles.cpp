#include "checkpoints/handles.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "base/errors.hpp"

namespace syncyte::hdf5 {
namespace {

// Handles lie above all addresses of a process, so that a pointer is never a valid handle.
constexpr std::uintptr_t tag = std::uintptr_t{0x4844} << 48;

struct handle_table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<checkpoint>> open;
  std::uintptr_t next = tag;
};

handle_table& table() {
  static handle_table the_table;
  return the_table;
}

auto find(handle_table& handles, syncyte_checkpoint_t handle) {
  const auto found = handles.open.find(reinterpret_cast<std::uintptr_t>(handle));
  require(found != handles.open.end(), SYNCYTE_ERR_HANDLE, "checkpoint: the handle is {}",
          handle == nullptr ? "null" : "closed or foreign");
  return found;
}

}  // namespace

syncyte_checkpoint_t register_handle(std::shared_ptr<checkpoint> opened) {
  handle_table& handles = table();
  const std::lock_guard lock(handles.mutex);
  const std::uintptr_t number = ++handles.next;
  handles.open.emplace(number, std::move(opened));
  return reinterpret_cast<syncyte_checkpoint_t>(number);
}

std::shared_ptr<checkpoint> lookup_handle(syncyte_checkpoint_t handle) {
  handle_table& handles = table();
  const std::lock_guard lock(handles.mutex);
  return find(handles, handle)->second;
}

void forget_handle(syncyte_checkpoint_t handle) {
  handle_table& handles = table();
  const std::lock_guard lock(handles.mutex);
  handles.open.erase(find(handles, handle));
}

}  // namespace syncyte::hdf5
