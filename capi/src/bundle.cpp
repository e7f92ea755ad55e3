// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/bundle.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "block_buffers.hpp"
#include "collective_calls.hpp"
#include "guard.hpp"
#include "halo/bundle.hpp"
#include "handle_tables.hpp"
#include "requests.hpp"

namespace syncyte::capi {
namespace {

std::shared_ptr<halo::bundle> find_bundle(syncyte_bundle_t bundle) {
  auto found = find_traced(tables::bundle(), bundle, "bundle");
  trace_peer(found->only_neighbour());
  return found;
}

std::string checked_name(const char* name) {
  base::expect(name != nullptr, SYNCYTE_ERR_ARGUMENT, "name", "null", "a name");
  return name;
}

const halo::field& checked_field(const halo::bundle& all, std::int64_t number) {
  base::expect(number >= 0 && number < all.fields(), SYNCYTE_ERR_INDEX, "number", number,
               "less than {}, the number of fields", all.fields());
  return all.field_at(static_cast<std::size_t>(number));
}

halo::bundle_request asked_for(halo::operation way, std::int64_t depth, std::int64_t only_length,
                               const std::int32_t* only) {
  halo::bundle_request result{way, depth};
  result.error = error_of([&] {
    if (only == nullptr) return;
    base::expect(only_length >= 0, SYNCYTE_ERR_ARGUMENT, "only_length", only_length, "0 or more");
    for (std::int64_t i = 0; i < only_length; ++i) {
      base::expect(only[i] == 0 || only[i] == 1, SYNCYTE_ERR_ARGUMENT, {"only", static_cast<int>(i)}, only[i],
                   "0 or 1");
      result.only.push_back(only[i] != 0);
    }
    result.has_only = true;
  });
  return result;
}

void run_transfer(syncyte_bundle_t bundle, const halo::bundle_request& asked) {
  halo::start(find_bundle(bundle), asked)->wait_or_leave();
}

void start_transfer(syncyte_bundle_t bundle, const halo::bundle_request& asked, const char* operation,
                    syncyte_request_t* request) {
  const auto found = find_bundle(bundle);
  if (request != nullptr) return give_request(halo::start(found, asked), operation, request);
  halo::bundle_request refused = asked;  // the neighbours get the error
  refused.error = error_of([&] { out(request, "request"); });
  halo::start(found, refused)->wait_or_leave();
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;
using halo::operation;

extern "C" {

syncyte_status_t syncyte_bundle_create(syncyte_comm_t comm, syncyte_bundle_t* bundle) {
  return after_init("bundle_create", [&] {
    const auto group = find_comm(comm);
    *bundle = tables::bundle().insert(halo::bundle::create(group, error_of([&] { out(bundle, "bundle"); })));
  });
}

syncyte_status_t syncyte_bundle_add(syncyte_bundle_t bundle, const char* name, syncyte_layout_t layout,
                                    syncyte_dtype_t dtype, int64_t count, const syncyte_buffer_t* arrays) {
  return after_init("bundle_add", [&] {
    const auto found = find_bundle(bundle);
    halo::field_description asked;
    asked.dtype = dtype;
    asked.error = error_of([&] {
      asked.name = checked_name(name);
      asked.layout = find_traced(tables::layout(), layout, "layout");
      base::expect_known<base::known::dtype>(dtype, "dtype", SYNCYTE_ERR_TYPE);
      asked.arrays = read_buffers(count, arrays, "arrays", "count");
    });
    found->add(std::move(asked));
  });
}

syncyte_status_t syncyte_bundle_set_arrays(syncyte_bundle_t bundle, const char* name, int64_t count,
                                           const syncyte_buffer_t* arrays) {
  return after_init("bundle_set_arrays", [&] {
    find_bundle(bundle)->set_arrays(checked_name(name), read_buffers(count, arrays, "arrays", "count"));
  });
}

syncyte_status_t syncyte_bundle_field(syncyte_bundle_t bundle, int64_t number, const char** name,
                                      syncyte_layout_t* layout, syncyte_dtype_t* dtype) {
  return lookup_after_init("bundle_field", [&] {
    const auto found = find_bundle(bundle);
    const halo::field& field = checked_field(*found, number);
    out(name, "name"), out(layout, "layout"), out(dtype, "dtype");
    *name = field.name.c_str();
    *layout = tables::layout().insert(field.layout);
    *dtype = field.dtype;
  });
}

syncyte_status_t syncyte_bundle_array(syncyte_bundle_t bundle, int64_t number, int32_t block, syncyte_buffer_t* array) {
  return lookup_after_init("bundle_array", [&] {
    const auto found = find_bundle(bundle);
    const auto& arrays = checked_field(*found, number).arrays;
    base::expect(block >= 0 && block < std::ssize(arrays), SYNCYTE_ERR_INDEX, "block", block,
                 "less than {}, the number of this rank's blocks", std::ssize(arrays));
    const base::buffer& own = arrays[static_cast<std::size_t>(block)];
    syncyte_buffer_t result = base::make_buffer(own.data(), own.dtype(), own.shape());
    std::ranges::copy(own.strides(), result.strides);
    base::fill_struct(array, "array", result);
  });
}

syncyte_status_t syncyte_bundle_exchange(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                         const int32_t* only) {
  return after_init("bundle_exchange",
                    [&] { run_transfer(bundle, asked_for(operation::exchange, depth, only_length, only)); });
}

syncyte_status_t syncyte_bundle_accumulate(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                           const int32_t* only) {
  return after_init("bundle_accumulate",
                    [&] { run_transfer(bundle, asked_for(operation::accumulate, depth, only_length, only)); });
}

syncyte_status_t syncyte_bundle_sum(syncyte_bundle_t bundle, int64_t only_length, const int32_t* only) {
  return after_init("bundle_sum", [&] { run_transfer(bundle, asked_for(operation::sum, 0, only_length, only)); });
}

syncyte_status_t syncyte_bundle_transfer(syncyte_bundle_t bundle, int32_t operation, int64_t depth, int64_t only_length,
                                         const int32_t* only, const syncyte_collective_options_t* options,
                                         int64_t count, const syncyte_buffer_t* arrays) {
  return after_init("bundle_transfer", [&] {
    constexpr halo::operation ways[] = {operation::exchange, operation::accumulate, operation::sum};
    const bool is_known = operation >= 0 && operation < std::ssize(ways);
    halo::bundle_request asked = asked_for(ways[is_known ? operation : 0], depth, only_length, only);
    const auto refused = error_of([&] {
      base::expect(is_known, SYNCYTE_ERR_ARGUMENT, "operation", operation, "0 to {}", std::ssize(ways) - 1);
      asked.arrays = read_buffers(count, arrays, "arrays", "count");
      const auto given = facts_of(options);
      if (given.error) throw *given.error;
      asked.facts = given.facts;
    });
    if (refused) asked.error = refused;
    run_transfer(bundle, asked);
  });
}

syncyte_status_t syncyte_bundle_iexchange(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                          const int32_t* only, syncyte_request_t* request) {
  return after_init("bundle_iexchange", [&] {
    start_transfer(bundle, asked_for(operation::exchange, depth, only_length, only), "bundle_iexchange", request);
  });
}

syncyte_status_t syncyte_bundle_iaccumulate(syncyte_bundle_t bundle, int64_t depth, int64_t only_length,
                                            const int32_t* only, syncyte_request_t* request) {
  return after_init("bundle_iaccumulate", [&] {
    start_transfer(bundle, asked_for(operation::accumulate, depth, only_length, only), "bundle_iaccumulate", request);
  });
}

syncyte_status_t syncyte_bundle_isum(syncyte_bundle_t bundle, int64_t only_length, const int32_t* only,
                                     syncyte_request_t* request) {
  return after_init("bundle_isum", [&] {
    start_transfer(bundle, asked_for(operation::sum, 0, only_length, only), "bundle_isum", request);
  });
}
}
