#include "kv/store.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <utility>

#include "base/dtype.hpp"
#include "collectives/checks.hpp"
#include "comm/collective.hpp"

namespace syncyte::kv {
namespace {

constexpr std::int32_t most_workers = 65536;
constexpr std::int64_t most_keys = std::int64_t{1} << 58;

std::string text_of(const std::string& name) { return name.empty() ? "a store" : fmt::format("store \"{}\"", name); }

[[noreturn]] void refuse(syncyte_status_t status, std::string_view argument, std::string value, std::string expected,
                         std::int64_t axis = -1) {
  base::refuse(
      status,
      {.argument = std::string(argument), .axis = axis, .value = std::move(value), .expected = std::move(expected)});
}

void check_options(const comm::communicator& comm, syncyte_dtype_t dtype, const store_options& options) {
  if (options.error) throw *options.error;
  base::dtype_size(dtype);  // throws for an unknown dtype
  if (dtype != SYNCYTE_FLOAT32) refuse(SYNCYTE_ERR_UNSUPPORTED, "dtype", base::dtype_name(dtype), "float32");
  if (options.workers < 1 || options.workers > most_workers)
    refuse(SYNCYTE_ERR_ARGUMENT, "options->workers", fmt::format("{}", options.workers),
           options.workers < 1 ? "1 or more" : fmt::format("at most {}", most_workers));
  if (comm.node().count > 1)
    refuse(SYNCYTE_ERR_UNSUPPORTED, "comm", fmt::format("of {} nodes", comm.node().count),
           "ranks of one node, which share memory");
}

std::span<const std::int64_t> check_lengths(std::int64_t keys, std::int64_t count, const std::int64_t* lengths) {
  if (keys < 1) refuse(SYNCYTE_ERR_SHAPE, "key_count", fmt::format("{}", keys), "1 or more");
  if (keys > most_keys) refuse(SYNCYTE_ERR_SHAPE, "key_count", fmt::format("{}", keys), "at most 2^58");
  if (count != 1 && count != keys)
    refuse(SYNCYTE_ERR_SHAPE, "length_count", fmt::format("{}", count), fmt::format("1, or {} (key_count)", keys));
  if (lengths == nullptr) refuse(SYNCYTE_ERR_ARGUMENT, "lengths", "null", fmt::format("{} lengths", count));
  const std::span<const std::int64_t> all(lengths, static_cast<std::size_t>(count));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 8;  // elements, rounded up to two each
  std::int64_t left = most;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t each = count == 1 ? keys : 1;
    if (all[i] < 1 || all[i] > left / each - 1)
      refuse(SYNCYTE_ERR_SHAPE, "lengths", fmt::format("{}", all[i]), "1 or more, and values of less than 2^62 bytes",
             static_cast<std::int64_t>(i));
    left -= (all[i] + 1) * each;
  }
  return all;
}

}  // namespace

std::shared_ptr<store> store::create(std::shared_ptr<comm::communicator> comm, syncyte_dtype_t dtype, std::int64_t keys,
                                     std::int64_t length_count, const std::int64_t* lengths,
                                     const store_options& options) {
  comm::collective_call call(*comm, "kv_create", comm::collective_call::lifecycle);
  std::span<const std::int64_t> checked;
  call.attempt([&] {
    check_options(*comm, dtype, options);
    checked = check_lengths(keys, length_count, lengths);
  });
  call.named_fact("dtype", dtype, base::dtype_name);
  call.fact("key_count", keys);
  call.fact("length_count", length_count);
  comm::add_counts(call, checked, "the sum of lengths", "a hash of lengths");
  call.agree();
  const std::string text = text_of(options.name);
  auto held = slab::allocate(call, keys, checked, text);
  return std::shared_ptr<store>(new store(std::move(comm), text, options.workers, std::move(held)));
}

store::store(std::shared_ptr<comm::communicator> comm, std::string text, std::int32_t workers,
             std::shared_ptr<slab> held)
    : comm_(std::move(comm)),
      text_(std::move(text)),
      parts_(base::partition::equal(held->keys(), comm_->size())),
      table_(held->make_table({.number = comm_->node().rank,
                               .is_alive = [&node = comm_->node()](int other) { return node.is_alive(other); },
                               .name = text_})),
      workers_(workers, text_),
      id_(comm_->deferred().add(std::move(held))) {}

store::~store() { comm_->deferred().drop(id_); }

void store::lengths(base::array_argument<std::int64_t> keys, std::int64_t* lengths) const {
  const auto asked = keys.with_results("keys", lengths, "lengths");
  table_.check(asked);
  for (const std::int64_t key : asked) *lengths++ = table_.layout().length(key);
}

void store::owner(base::array_argument<std::int64_t> keys, std::int32_t* ranks) const {
  const auto asked = keys.with_results("keys", ranks, "ranks");
  table_.check(asked);
  for (const std::int64_t key : asked) *ranks++ = parts_.owner(key);
}

void store::set_sampling(const syncyte_kv_sampling_t& asked) {
  auto made = std::make_shared<sampling>(table_.layout(), asked, text_);
  const std::lock_guard lock(sampling_mutex_);
  sampling_ = std::move(made);
}

std::shared_ptr<sampling> store::find_sampling() const {
  const std::lock_guard lock(sampling_mutex_);
  base::require(sampling_ != nullptr, SYNCYTE_ERR_ARGUMENT,
                "{} has no sampling yet; expected kv_set_sampling() before (set_sampling, enable_sampling_support)",
                text_);
  return sampling_;
}

void store::synchronise(const char* operation, setup phase, const std::optional<base::error>& wrong) {
  comm::collective_call call(*comm_, operation, comm::collective_call::lifecycle);
  call.attempt([&] {
    if (wrong) throw *wrong;
    if (phase == setup::begins)
      base::require(!is_in_setup_, SYNCYTE_ERR_ARGUMENT, "{} is in its setup phase already", text_);
    if (phase == setup::ends)
      base::require(is_in_setup_, SYNCYTE_ERR_ARGUMENT, "{} is not in its setup phase; begin it first", text_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
  call.fact("the store", static_cast<std::int64_t>(id_));
  call.agree();  // no rank leaves before all have entered
  if (phase != setup::stays) is_in_setup_ = phase == setup::begins;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace syncyte::kv
