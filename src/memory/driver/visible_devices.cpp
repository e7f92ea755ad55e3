// SPDX-License-Identifier: BSD-3-Clause
// Devices counted by NVIDIA's management library, as PyTorch counts them: without the driver's start, after which a
// process must not fork.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "memory/driver/library.hpp"

namespace syncyte::memory::driver {
namespace {

/// The part of libnvidia-ml.so.1 that is needed (nvml.h); 0 is success.
struct management {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, void**) = nullptr;
  int (*uuid)(void*, char*, unsigned) = nullptr;

  static const management& opened() {
    static const management one = [] {
      management found;
      void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return found;
      const auto set = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        return function != nullptr;
      };
      const bool has_all = set(found.shutdown, "nvmlShutdown") && set(found.count, "nvmlDeviceGetCount_v2") &&
                           set(found.device, "nvmlDeviceGetHandleByIndex_v2") && set(found.uuid, "nvmlDeviceGetUUID") &&
                           set(found.init, "nvmlInit_v2");
      return has_all ? found : management{};
    }();
    return one;
  }
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> result{""};
  for (const char letter : text) {
    if (letter == ',')
      result.emplace_back();
    else if (letter != ' ')
      result.back() += letter;
  }
  return result;
}

/// The devices' names, such as GPU-8932f937-d72c-4106-c12f-20bd9faed9f6.
std::vector<std::string> names_of(const management& library, unsigned count) {
  std::vector<std::string> result;
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    char name[96] = "";
    if (library.device(i, &device) == 0) library.uuid(device, name, sizeof name);
    result.emplace_back(name);
  }
  return result;
}

/// Position of the device that a word means; -1 if it means none, which ends the list.
int position_of(const std::string& word, const std::vector<std::string>& names) {
  const auto is_meant = [&](const std::string& name) { return name.starts_with(word); };
  if (word.starts_with("GPU-")) {
    if (std::ranges::count_if(names, is_meant) != 1) return -1;
    return static_cast<int>(std::ranges::find_if(names, is_meant) - names.begin());
  }
  char* end = nullptr;
  const long number = std::strtol(word.c_str(), &end, 10);
  const bool is_number = end != word.c_str() && number >= 0 && number < std::ssize(names);
  return is_number ? static_cast<int>(number) : -1;
}

int count_listed(const std::string& listed, const std::vector<std::string>& names) {
  std::vector<int> chosen;
  for (const std::string& word : words_of(listed)) {
    if (word.starts_with("MIG-")) return -1;
    const int position = position_of(word, names);
    if (position < 0) break;
    if (std::ranges::find(chosen, position) != chosen.end()) return 0;  // a device twice: none is visible
    chosen.push_back(position);
  }
  return static_cast<int>(chosen.size());
}

}  // namespace

int count_visible_devices() {
  const management& library = management::opened();
  if (library.init == nullptr || library.init() != 0) return -1;
  unsigned count = 0;
  int result = -1;
  if (library.count(&count) == 0) {
    const char* const listed = std::getenv("CUDA_VISIBLE_DEVICES");
    result = listed == nullptr ? static_cast<int>(count) : count_listed(listed, names_of(library, count));
  }
  library.shutdown();
  return result;
}

}  // namespace syncyte::memory::driver
