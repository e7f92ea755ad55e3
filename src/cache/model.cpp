// SPDX-License-Identifier: BSD-3-Clause
#include "cache/model.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace syncyte::cache {

std::shared_ptr<model> model::bind(const models& from, const std::string& name) {
  check_model_name(name);
  const deadline until = from.limit();
  std::shared_ptr<model> made(new model(name, until));
  made->connection_ = from.open(purpose::bind, name, 0, until);
  answer got = receive(made->connection_, until, fmt::format("the model \"{}\"", name));
  made->file_ = std::move(got.file);
  made->layout_ = model_layout::read(made->file_);
  const std::uint64_t groups = made->layout_.groups();
  base::require(got.told.value <= groups, SYNCYTE_ERR_FORMAT, "the model \"{}\" has {} groups; {} cannot be ready",
                name, groups, got.told.value);
  const bool is_ready = got.told.value == groups;
  made->mapping_ = memory::map_private(made->file_.number(), made->layout_.file_bytes(), is_ready);
  if (is_ready)
    made->ready_ = groups;
  else
    made->open_up_to(got.told.value);
  return made;
}

void model::open_up_to(std::uint64_t groups) {
  const std::uint64_t before = ready_;
  if (groups <= before) return;
  base::require(groups <= layout_.groups(), SYNCYTE_ERR_FORMAT, "the model \"{}\" has {} groups; {} cannot be ready",
                name_, layout_.groups(), groups);
  const std::uint64_t begin = layout_.group_begin(before), end = layout_.group_end(groups - 1);
  if (end > begin && mprotect(mapping_.get() + begin, end - begin, PROT_READ | PROT_WRITE) != 0)
    base::fail(SYNCYTE_ERR_MEMORY, "cannot give access to {} bytes of the model \"{}\": {}", end - begin, name_,
               base::errno_text(errno));
  ready_.store(groups, std::memory_order_release);
}

/// Takes the notes that have come. The caller holds the lock.
void model::hear() {
  if (failure_) throw *failure_;
  try {
    while (const auto got = try_to_receive(connection_)) open_up_to(got->told.value);
  } catch (const base::error& failed) {
    failure_ = failed;
    throw;
  }
}

std::uint64_t model::ready() {
  if (ready_ == layout_.groups()) return ready_;
  const std::lock_guard lock(mutex_);
  hear();
  return ready_;
}

void model::wait(std::uint64_t group, double seconds) {
  base::expect(group < layout_.groups(), SYNCYTE_ERR_INDEX, "group", group, "0 to {}", layout_.groups() - 1);
  std::uint64_t seen = ready_;
  for (deadline until(seconds < 0 ? limit_.seconds() : seconds); ready_.load(std::memory_order_acquire) <= group;) {
    {
      const std::lock_guard lock(mutex_);
      hear();
    }
    if (ready_ > group) return;
    if (ready_ > seen && seconds < 0) until = deadline(limit_.seconds());
    seen = ready_;
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
                  "{} of {} groups of the model \"{}\" are ready; no other after {} s", seen, layout_.groups(), name_,
                  until.seconds());
    memory::wait_readable(connection_.get(), std::chrono::steady_clock::now() + until.next_look());
  }
}

void model::verify() {
  base::require(layout_.has_checksums(), SYNCYTE_ERR_UNSUPPORTED, "the model \"{}\" was published without checksums",
                name_);
  wait(layout_.groups() - 1);
  // The bytes that were published, not those that this process may have written.
  const memory::mapping published = memory::map_private(file_.number(), layout_.file_bytes(), true);
  const auto& tensors = layout_.tensors();
  for (std::uint64_t number = 0; number < tensors.size(); ++number) {
    const std::uint64_t sum = model_layout::checksum({published.get() + tensors[number].offset, tensors[number].bytes});
    base::require(sum == model_layout::read_checksum(file_, number), SYNCYTE_ERR_CHECKSUM,
                  "the bytes of the tensor \"{}\" of the model \"{}\" differ from their checksum", tensors[number].name,
                  name_);
  }
}

}  // namespace syncyte::cache
