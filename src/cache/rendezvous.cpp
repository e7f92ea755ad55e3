// SPDX-License-Identifier: BSD-3-Clause
#include "cache/rendezvous.hpp"

#include <unistd.h>

#include <thread>

#include "memory/handover.hpp"

namespace syncyte::cache {

void send(std::span<const memory::descriptor> files, const rendezvous& chosen) {
  const deadline until(chosen.seconds);
  const named_socket target(chosen);
  const memory::descriptor listener = at(target, [&] { return listen(target, until); });
  // The name is removed while this process listens: afterwards another process might own it.
  const memory::name_guard name(new std::string(target.socket()), {unlink});
  while (!memory::hand_over(listener, files, chosen.nonce, until.next_look()))
    base::require(
        until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
        "no process has received the shared cache {} within {} s; the receiver needs the same name and folder",
        target.shown(), until.seconds());
}

std::vector<memory::descriptor> receive(const rendezvous& chosen) {
  const deadline until(chosen.seconds);
  const named_socket target(chosen);
  for (;;) {
    std::vector<memory::descriptor> files = at(target, [&] {
      return memory::try_to_receive_from(target.socket(), chosen.nonce, [&] { return until.is_ahead(); });
    });
    if (!files.empty()) return files;
    base::require(until.is_ahead(), SYNCYTE_ERR_TIMEOUT,
                  "no process has sent the shared cache {} within {} s; the sender needs the same name and folder",
                  target.shown(), until.seconds());
    std::this_thread::sleep_for(retry_interval);
  }
}

}  // namespace syncyte::cache
