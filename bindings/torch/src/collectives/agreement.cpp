// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/agreement.hpp"

#include <c10/util/Exception.h>
#include <c10/util/hash.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>

#include "collectives/communicators.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

syncyte_status_t code_of(const c10::Error& error) {
  if (dynamic_cast<const c10::IndexError*>(&error) != nullptr) return SYNCYTE_ERR_INDEX;
  if (dynamic_cast<const c10::TypeError*>(&error) != nullptr) return SYNCYTE_ERR_TYPE;
  if (dynamic_cast<const c10::ValueError*>(&error) != nullptr) return SYNCYTE_ERR_ARGUMENT;
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) return SYNCYTE_ERR_UNSUPPORTED;
  // Torch's allocators throw the general class.
  const std::string_view text = error.what_without_backtrace();
  return text.find("allocate") != text.npos ? SYNCYTE_ERR_MEMORY : SYNCYTE_ERR_INTERNAL;
}

}  // namespace

syncyte_status_t keep_exception() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return syncyte_error_set(code_of(error), error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return syncyte_error_set(SYNCYTE_ERR_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return syncyte_error_set(SYNCYTE_ERR_INTERNAL, error.what());
  }
}

fact_list facts_of(derivatives wanted) {
  return {{"needs-gradient", wanted.needs_gradient},
          {"has a tangent", wanted.has_tangent},
          {"number of the forward", wanted.forward_number}};
}

void add_shape(fact_list& facts, at::IntArrayRef shape) {
  constexpr const char* names[] = {"extent 0 of input", "extent 1 of input", "extent 2 of input", "extent 3 of input",
                                   "extent 4 of input", "extent 5 of input", "extent 6 of input", "extent 7 of input"};
  const std::size_t named = std::min(shape.size(), std::size(names));
  facts.push_back({"dimensions of input", static_cast<std::int64_t>(shape.size())});
  for (std::size_t i = 0; i < named; ++i) facts.push_back({names[i], shape[i]});
  if (named == shape.size()) return;
  const std::size_t hash = c10::get_hash(shape.slice(named).vec());
  facts.push_back({"hash of more extents", static_cast<std::int64_t>(hash)});
}

std::int32_t check_level(std::int64_t comm) {
  return detail::raw(checked([&] { return group_of(comm)->level(); }));
}

void agree(std::int64_t comm, const char* operation, syncyte_status_t own, const fact_list& facts) {
  checked([&] { group_of(comm)->agree(static_cast<status>(own), operation, {facts.data(), facts.size()}); });
}

void fail_together(std::int64_t comm, const std::string& operation) {
  if (check_level(comm) > 0) agree(comm, operation.c_str(), keep_exception());
  throw;
}

}  // namespace syncyte::torch_binding
