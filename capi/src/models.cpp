// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/models.h"

#include <algorithm>
#include <cmath>

#include "cache/model.hpp"
#include "cache/models.hpp"
#include "cache/publication.hpp"
#include "cache_rendezvous.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "memory/device.hpp"
#include "memory/device_system.hpp"

namespace syncyte::capi {
namespace {

std::string text(const char* given, const char* argument) {
  base::expect(given != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "a text");
  return given;
}

void require_flag(std::int32_t value, const char* argument) {
  base::expect(value == 0 || value == 1, SYNCYTE_ERR_ARGUMENT, argument, value, "0 or 1");
}

/// The device that a publication's options name; -1 for host memory.
int chosen_device(const syncyte_publication_options_t& options) {
  base::expect_known<base::known::memory>(options.memory, "memory");
  base::expect(options.device >= -1, SYNCYTE_ERR_ARGUMENT, "device", options.device, "-1 or more");
  if (options.memory == SYNCYTE_MEMORY_HOST) return -1;
  memory::require_device(options.memory, std::max(options.device, 0));
  return options.device < 0 ? memory::cuda_system().current() : options.device;
}

cache::model_target chosen_target(const syncyte_bind_options_t& options) {
  if (options.memory != SYNCYTE_MEMORY_OF_MODEL) base::expect_known<base::known::memory>(options.memory, "memory");
  base::expect(options.device >= -1, SYNCYTE_ERR_ARGUMENT, "device", options.device, "-1 or more");
  require_flag(options.copy, "copy");
  if (options.memory == SYNCYTE_MEMORY_CUDA) memory::require_device(options.memory, std::max(options.device, 0));
  return {options.memory, options.device, options.copy == 1};
}

syncyte_published_t described(const cache::model_info& model) {
  syncyte_published_t result{};
  result.struct_size = sizeof(result);
  result.name = model.name.c_str();
  result.bytes = static_cast<std::int64_t>(model.bytes);
  result.groups = static_cast<std::int64_t>(model.groups);
  result.ready = static_cast<std::int64_t>(model.ready);
  result.publisher = model.publisher;
  result.holders = static_cast<std::int32_t>(model.holders.size());
  std::ranges::copy_n(model.holders.begin(), std::min<std::ptrdiff_t>(result.holders, SYNCYTE_MOST_HOLDERS),
                      result.processes);
  result.device = model.device.c_str();
  return result;
}

syncyte_model_tensor_t described(const cache::model& of, const cache::model_tensor& tensor) {
  syncyte_model_tensor_t result{};
  result.struct_size = sizeof(result);
  result.name = tensor.name.c_str();
  result.data = of.data(tensor);
  result.bytes = static_cast<std::int64_t>(tensor.bytes);
  result.group = static_cast<std::int64_t>(tensor.group);
  result.same_as = static_cast<std::int64_t>(tensor.same_as);
  result.dtype = tensor.dtype;
  result.ndim = tensor.ndim;
  std::ranges::copy(tensor.shape, result.shape);
  std::ranges::copy(tensor.strides, result.strides);
  return result;
}

syncyte_buffer_t buffer_of(const cache::model& of, const cache::model_tensor& tensor) {
  syncyte_buffer_t result = base::make_buffer(of.data(tensor), tensor.dtype, tensor.extents());
  result.memory = of.view().memory();
  result.device = of.view().device();
  std::ranges::copy(tensor.strides, result.strides);
  return result;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_models_create(const syncyte_models_options_t* options, syncyte_models_t* models) {
  return counted("models_create", [&] {
    const auto chosen = options_or(options, syncyte_models_options_t SYNCYTE_MODELS_OPTIONS_INIT);
    base::expect(chosen.budget >= 0, SYNCYTE_ERR_ARGUMENT, "budget", chosen.budget, "1 or more, or 0 for the default");
    base::expect(chosen.device_budget >= 0, SYNCYTE_ERR_ARGUMENT, "device_budget", chosen.device_budget,
                 "1 or more, or 0 for the default");
    out(models, "models");
    *models = tables::models().insert(cache::models::create(
        {static_cast<std::uint64_t>(chosen.budget), static_cast<std::uint64_t>(chosen.device_budget)}));
  });
}

syncyte_status_t syncyte_models_connect(const syncyte_cache_rendezvous_t* options, syncyte_models_t* models) {
  return counted("models_connect", [&] {
    out(models, "models");
    *models = tables::models().insert(cache::models::connect(chosen_rendezvous(options)));
  });
}

syncyte_status_t syncyte_models_serve(syncyte_models_t models, const syncyte_cache_rendezvous_t* options) {
  return counted("models_serve", [&] { tables::models().find(models, "models")->serve(chosen_rendezvous(options)); });
}

syncyte_status_t syncyte_models_describe(syncyte_models_t models, int64_t number, syncyte_published_t* published) {
  return guarded("models_describe", [&] {
    const auto found = tables::models().find(models, "models");
    require_output(published, "published");
    base::expect(number >= 0, SYNCYTE_ERR_INDEX, "number", number, "0 or more");
    base::fill_struct(published, "published", described(found->listed(static_cast<std::uint64_t>(number))));
  });
}

syncyte_status_t syncyte_models_remove(syncyte_models_t models, const char* name) {
  return counted("models_remove", [&] { tables::models().find(models, "models")->remove(text(name, "name")); });
}

syncyte_status_t syncyte_publication_create(syncyte_models_t models, const char* name,
                                            const syncyte_publication_options_t* options,
                                            syncyte_publication_t* publication) {
  return guarded("publication_create", [&] {
    auto found = tables::models().find(models, "models");
    const auto chosen = options_or(options, syncyte_publication_options_t SYNCYTE_PUBLICATION_OPTIONS_INIT);
    require_flag(chosen.checksums, "checksums");
    const int device = chosen_device(chosen);
    out(publication, "publication");
    *publication = tables::publication().insert(
        std::make_shared<cache::publication>(std::move(found), text(name, "name"), chosen.checksums == 1, device));
  });
}

syncyte_status_t syncyte_publication_add(syncyte_publication_t publication, const char* tensor,
                                         const syncyte_buffer_t* buffer) {
  return guarded("publication_add",
                 [&] { tables::publication().find(publication, "publication")->add(text(tensor, "tensor"), buffer); });
}

syncyte_status_t syncyte_publication_start(syncyte_publication_t publication) {
  return counted("publication_start", [&] { tables::publication().find(publication, "publication")->start(); });
}

syncyte_status_t syncyte_publication_fill(syncyte_publication_t publication, const char* tensor,
                                          const syncyte_buffer_t* buffer) {
  return counted("publication_fill",
                 [&] { tables::publication().find(publication, "publication")->fill(text(tensor, "tensor"), buffer); });
}

syncyte_status_t syncyte_publication_finish(syncyte_publication_t publication) {
  return counted("publication_finish", [&] { tables::publication().find(publication, "publication")->finish(); });
}

syncyte_status_t syncyte_publication_fail(syncyte_publication_t publication, syncyte_status_t code,
                                          const char* reason) {
  return counted("publication_fail", [&] {
    const auto found = tables::publication().find(publication, "publication");
    base::expect(base::known::status::contains(code) && code != SYNCYTE_SUCCESS, SYNCYTE_ERR_ARGUMENT, "code", code,
                 "the status of an error");
    found->fail(code, text(reason, "reason"));
  });
}

syncyte_status_t syncyte_models_bind(syncyte_models_t models, const char* name, const syncyte_bind_options_t* options,
                                     syncyte_model_t* model) {
  return counted("models_bind", [&] {
    const auto found = tables::models().find(models, "models");
    const auto chosen = options_or(options, syncyte_bind_options_t SYNCYTE_BIND_OPTIONS_INIT);
    const cache::model_target target = chosen_target(chosen);
    out(model, "model");
    *model = tables::model().insert(cache::model::bind(*found, text(name, "name"), target));
  });
}

syncyte_status_t syncyte_model_describe(syncyte_model_t model, syncyte_model_info_t* info) {
  return guarded("model_describe", [&] {
    const auto found = tables::model().find(model, "model");
    const auto& layout = found->layout();
    require_output(info, "info");
    syncyte_model_info_t described{};
    described.struct_size = sizeof(described);
    described.bytes = static_cast<int64_t>(layout.end());
    described.tensors = static_cast<int64_t>(layout.tensors().size());
    described.groups = static_cast<int64_t>(layout.groups());
    described.ready = static_cast<int64_t>(found->ready());
    described.memory = found->view().memory();
    described.device = found->view().device();
    described.read_only = found->view().is_read_only() ? 1 : 0;
    base::fill_struct(info, "info", described);
  });
}

syncyte_status_t syncyte_model_tensor(syncyte_model_t model, int64_t number, syncyte_model_tensor_t* tensor) {
  return guarded("model_tensor", [&] {
    const auto found = tables::model().find(model, "model");
    const auto& tensors = found->layout().tensors();
    base::expect(number >= 0 && number < static_cast<int64_t>(tensors.size()), SYNCYTE_ERR_INDEX, "number", number,
                 "0 to {}", tensors.size() - 1);
    base::fill_struct(tensor, "tensor", described(*found, tensors[static_cast<std::size_t>(number)]));
  });
}

syncyte_status_t syncyte_model_find(syncyte_model_t model, const char* name, syncyte_buffer_t* buffer) {
  return guarded("model_find", [&] {
    const auto found = tables::model().find(model, "model");
    require_output(buffer, "buffer");
    const auto& tensor = found->layout().tensors()[found->layout().find(text(name, "name"))];
    found->wait(tensor.group);
    base::fill_struct(buffer, "buffer", buffer_of(*found, tensor));
  });
}

syncyte_status_t syncyte_model_wait(syncyte_model_t model, int64_t group, double timeout) {
  return counted("model_wait", [&] {
    const auto found = tables::model().find(model, "model");
    base::expect(!std::isnan(timeout), SYNCYTE_ERR_ARGUMENT, "timeout", "nan", "a number of seconds");
    base::expect(group >= -1, SYNCYTE_ERR_INDEX, "group", group, "-1 for all, or 0 to {}",
                 found->layout().groups() - 1);
    found->wait(group >= 0 ? static_cast<std::uint64_t>(group) : found->layout().groups() - 1, timeout);
  });
}

syncyte_status_t syncyte_model_verify(syncyte_model_t model) {
  return counted("model_verify", [&] { tables::model().find(model, "model")->verify(); });
}
}
