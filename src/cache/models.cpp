// SPDX-License-Identifier: BSD-3-Clause
#include "cache/models.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/environment.hpp"
#include "cache/model_layout.hpp"
#include "memory/capacity.hpp"

namespace syncyte::cache {
namespace {

std::string read_all(const std::vector<memory::descriptor>& files) {
  struct stat found{};
  const int file = files.empty() ? -1 : files.front().number();
  const bool has_size = fstat(file, &found) == 0;
  std::string bytes(has_size ? static_cast<std::size_t>(found.st_size) : 0, '\0');
  const ssize_t got = pread(file, bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

}  // namespace

std::shared_ptr<models> models::create(const model_budget& budget) {
  model_budget chosen = budget;
  const auto choose = [](std::uint64_t& bytes, const base::setting& variable) {
    if (const auto found = bytes == 0 ? base::environment_bytes(variable) : std::nullopt) bytes = *found;
  };
  choose(chosen.host, base::settings::cache_model_bytes);
  choose(chosen.device, base::settings::cache_device_model_bytes);
  if (chosen.host == 0) chosen.host = memory::total_bytes() / base::settings::cache_model_part;
  std::shared_ptr<models> made(new models);
  made->server_ = std::make_unique<model_server>(chosen);
  return made;
}

std::shared_ptr<models> models::connect(const rendezvous& place) {
  std::shared_ptr<models> made(new models);
  made->place_ = std::make_unique<named_socket>(place);
  made->secret_ = place.nonce;
  made->seconds_ = place.seconds;
  for (const deadline until = made->limit();;) {
    const auto failed = base::error_of([&] {
      const own_descriptor connection = made->open(purpose::hello, "", {}, until);
      receive(connection, until, "connecting to the models " + made->place_->shown());
    });
    if (!failed) return made;
    if (failed->status() != SYNCYTE_ERR_PEER_DIED) throw *failed;  // of the last server, or none yet
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
                  "no process has served the models {} within {} s; it needs the same name and folder",
                  made->place_->shown(), until.seconds());
    std::this_thread::sleep_for(retry_interval);
  }
}

models::~models() {
  socket_name_.reset();  // before the server stops to listen: afterwards another process might own the name
}

void models::serve(const rendezvous& place) {
  base::expect(server_ != nullptr, SYNCYTE_ERR_ARGUMENT, "models", "of another process, which serves them",
               "models that this process has created");
  const std::lock_guard lock(mutex_);
  base::require(place_ == nullptr, SYNCYTE_ERR_BUSY, "these models are served {} already",
                place_ == nullptr ? "" : place_->shown());
  auto target = std::make_unique<named_socket>(place);
  memory::descriptor listener = at(*target, [&] { return listen(*target, deadline(place.seconds)); });
  memory::name_guard name(new std::string(target->socket()), {unlink});
  server_->listen_at(std::move(listener), place.nonce);
  socket_name_ = std::move(name);
  seconds_ = place.seconds;
  place_ = std::move(target);
}

own_descriptor models::connect_to_socket(const deadline& until) const {
  memory::connection made =
      at(*place_, [&] { return memory::connect_to(place_->socket(), [&] { return until.is_ahead(); }); });
  if (made.socket) return own_descriptor(std::move(made.socket));
  base::require(made.code != ENOENT && made.code != ECONNREFUSED, SYNCYTE_ERR_PEER_DIED,
                "no process serves the models {}: it has ended, or has closed them", place_->shown());
  base::require(made.code != EAGAIN, SYNCYTE_ERR_TIMEOUT,
                "the process that serves the models {} does not answer for {} s", place_->shown(), until.seconds());
  at(*place_, [&] { memory::fail_step(made.failed_step, place_->socket(), made.code); });
  return {};
}

own_descriptor models::open(purpose what, const std::string& name, const model_place& place,
                            const deadline& until) const {
  own_descriptor connection = server_ != nullptr ? server_->connect() : connect_to_socket(until);
  const request asked = make_request(what, secret_, name, place);
  send(connection, {reinterpret_cast<const char*>(&asked), sizeof(asked)}, until);
  return connection;
}

answer models::exchange(purpose what, const std::string& name) const {
  const deadline until = limit();
  const own_descriptor connection = open(what, name, {}, until);
  return receive(connection, until, "a request about models");
}

void models::remove(const std::string& name) const {
  check_model_name(name);
  exchange(purpose::remove, name);
}

const model_info& models::listed(std::uint64_t number) const {
  thread_local std::vector<model_info> list;
  thread_local const models* asked = nullptr;
  if (number == 0 || asked != this) list = decode_list(read_all(exchange(purpose::list, "").files));
  asked = this;
  base::expect(number < list.size(), SYNCYTE_ERR_INDEX, "number", number, "less than {}, the number of models",
               list.size());
  return list[number];
}

}  // namespace syncyte::cache
