// SPDX-License-Identifier: BSD-3-Clause
#include "cache/publication.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/struct_size.hpp"
#include "cache/model_checksums.hpp"
#include "memory/capacity.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::cache {
namespace {

[[noreturn]] void fail_to_make(const char* step, const std::string& name, std::uint64_t bytes) {
  const int code = errno;
  memory::check_open_files(step, code);
  base::fail(SYNCYTE_ERR_MEMORY, "cannot make the model \"{}\" of {} bytes: {}: {}", name, bytes, step,
             base::errno_text(code));
}

/// A buffer of the caller; `nowhere` stands for its memory if that is null.
syncyte_buffer_t described(const syncyte_buffer_t* buffer, void* nowhere) {
  syncyte_buffer_t read = base::read_struct(buffer, "buffer", syncyte_buffer_t SYNCYTE_BUFFER_INIT);
  if (read.data == nullptr) read.data = nowhere;
  return read;
}

}  // namespace

publication::publication(std::shared_ptr<models> where, std::string name, bool has_checksums, int device)
    : where_(std::move(where)), name_(std::move(name)), device_(device) {
  check_model_name(name_);
  layout_.set_checksums(has_checksums);
}

void publication::require_open() const {
  base::expect(!is_over_, SYNCYTE_ERR_ARGUMENT, "publication", fmt::format("of \"{}\", and has ended", name_),
               "one that has not");
}

void publication::add(const std::string& tensor, const syncyte_buffer_t* buffer) {
  const std::lock_guard lock(mutex_);
  require_open();
  base::expect(!connection_, SYNCYTE_ERR_ARGUMENT, "publication", fmt::format("of \"{}\", and has started", name_),
               "one that has not, so that tensors can be added");
  std::byte nowhere{};
  const syncyte_buffer_t source = described(buffer, &nowhere);
  const base::buffer checked(&source, "buffer");
  if (checked.memory() != SYNCYTE_MEMORY_HOST) memory::require_device(checked.memory(), checked.device());
  layout_.add(tensor, checked, source.data != &nowhere);
  sources_.push_back(source);
  if (source.data == &nowhere) sources_.back().data = nullptr;
}

void publication::start() {
  const std::lock_guard lock(mutex_);
  require_open();
  if (!connection_) begin();
}

model_place publication::place() const {
  if (device_ < 0) return {.bytes = layout_.file_bytes()};
  return {.bytes = bytes_on_device(layout_, device_),
          .is_on_device = 1,
          .device = *layout_.device(),
          .device_bytes = memory::cuda_backend().total_bytes(device_)};
}

void publication::begin() {
  layout_.plan();
  if (device_ >= 0) layout_.set_device(memory::cuda_system().id(device_));
  const deadline until = where_->limit();
  own_descriptor connection = where_->open(purpose::publish, name_, place(), until);
  receive(connection, until, "a publication");
  make_memory();
  send(connection, note{.what = news::memory, .value = layout_.groups()}.encode(), until, files_);
  is_written_.assign(sources_.size(), false);
  left_.assign(layout_.groups(), 0);
  const auto& tensors = layout_.tensors();
  for (std::uint64_t number = 0; number < tensors.size(); ++number)
    if (tensors[number].same_as == number) ++left_[tensors[number].group];
  connection_ = std::move(connection);
}

void publication::make_memory() {
  files_.clear();  // of an attempt that has failed
  memory::require_available(layout_.file_bytes(), fmt::format("the model \"{}\"", name_));
  make_file();
  if (device_ < 0)
    writer_ = make_host_writer(layout_, mapping_.get());
  else
    writer_ = make_device_writer(layout_, device_, files_.emplace_back());
}

void publication::make_file() {
  const std::uint64_t bytes = layout_.file_bytes();
  const memory::descriptor& file = files_.emplace_back(memory::open_memfd("syncyte-model"));
  if (!file) fail_to_make("memfd_create", name_, bytes);
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) fail_to_make("ftruncate", name_, bytes);
  if (fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    fail_to_make("sealing its size", name_, bytes);
  mapping_ = memory::map_shared(file.number(), bytes);
  madvise(mapping_.get(), bytes, MADV_DONTFORK);
  const auto manifest = layout_.encode();
  std::memcpy(mapping_.get(), manifest.data(), manifest.size());
}

void publication::write(std::uint64_t number, const base::buffer& from) {
  connection_.get();  // a forked child does not have the mapping
  number = layout_.tensors()[number].same_as;
  const model_tensor& tensor = layout_.tensors()[number];
  base::expect(from.dtype() == tensor.dtype, SYNCYTE_ERR_TYPE, "buffer", base::dtype_name(from.dtype()), "{}",
               base::dtype_name(tensor.dtype));
  base::expect(std::ranges::equal(from.shape(), tensor.extents()), SYNCYTE_ERR_SHAPE, "buffer",
               base::shape_text(from.shape()), "{}", base::shape_text(tensor.extents()));
  if (tensor.bytes > 0) writer_->write(tensor, from);
  if (is_written_[number]) return;
  is_written_[number] = true;
  --left_[tensor.group];
  tell_ready();
}

void publication::free_memory() {
  writer_.reset();
  mapping_.reset();
}

/// The last group is ready when the file is sealed.
void publication::tell_ready() {
  const std::uint64_t before = ready_;
  while (ready_ + 1 < left_.size() && left_[ready_] == 0) ++ready_;
  if (ready_ == before) return;
  writer_->wait();
  send(connection_, note{.what = news::ready, .value = ready_}.encode(), where_->limit());
}

void publication::fill(const std::string& tensor, const syncyte_buffer_t* buffer) {
  const std::lock_guard lock(mutex_);
  require_open();
  const base::buffer from(buffer, "buffer");
  if (from.memory() != SYNCYTE_MEMORY_HOST) memory::require_device(from.memory(), from.device());
  const std::uint64_t number = layout_.find(tensor);
  if (!connection_) begin();
  const model_tensor& found = layout_.tensors()[number];
  base::require(found.group >= ready_, SYNCYTE_ERR_BUSY, "the tensor \"{}\" is ready: processes may already read it",
                tensor);
  write(number, from);
}

void publication::finish() {
  const std::lock_guard lock(mutex_);
  require_open();
  if (!connection_) begin();
  const auto failed = base::error_of([&] {
    for (std::uint64_t number = 0; number < sources_.size(); ++number) {
      const model_tensor& tensor = layout_.tensors()[number];
      if (is_written_[tensor.same_as]) continue;
      base::expect(sources_[number].data != nullptr || tensor.bytes == 0, SYNCYTE_ERR_ARGUMENT, "tensor",
                   '"' + tensor.name + "\", which was added without memory and is not filled", "one that is filled");
      watchdog::ask_for_interrupt();
      write(number, base::buffer(&sources_[number], "buffer"));
    }
    seal();
  });
  if (!failed) return;
  give_up(*failed);
  throw *failed;
}

void publication::write_checksums() {
  const auto sums = checksums(layout_, writer_->begin());
  for (std::uint64_t number = 0; number < sums.size(); ++number)
    std::memcpy(mapping_.get() + model_layout::checksum_offset(number), &sums[number], sizeof(sums[number]));
}

void publication::seal() {
  writer_->wait();
  if (layout_.has_checksums()) write_checksums();
  free_memory();
  const deadline until = where_->limit();
  while (fcntl(files_.front().number(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    if (errno != EBUSY) fail_to_make("sealing its contents", name_, layout_.file_bytes());
    // Linux may hold a reference to a page for a moment, such as one that a binder has just read.
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
                  "the model \"{}\" cannot be sealed: its pages were in use for {} s", name_, until.seconds());
    watchdog::ask_for_interrupt();
    std::this_thread::sleep_for(retry_interval);
  }
  send(connection_, note{.what = news::done, .value = layout_.groups()}.encode(), until);
  receive(connection_, until, "the end of a publication");
  is_over_ = true;
  files_.clear();
  connection_ = {};
}

void publication::give_up(const base::error& failed) {
  is_over_ = true;
  if (connection_) base::error_of([&] { send(connection_, note::of(failed).encode(), where_->limit()); });
  connection_ = {};
  free_memory();
  files_.clear();
}

void publication::fail(syncyte_status_t status, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  require_open();
  give_up(base::error(status, fmt::format("the publication of the model \"{}\" has failed: {}", name_, reason)));
}

}  // namespace syncyte::cache
