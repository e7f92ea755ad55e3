// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/box_transfer.hpp"

namespace syncyte::tensor {

void box_transfer::begin() {
  if (parts_.empty()) return;
  std::vector<window::remote_rows> owners;
  for (const part& one : parts_) owners.push_back({one.owner, one.piece_bytes, one.offsets, one.packed.data(), {}});
  in_flight_ = remote_->start_rows(operation_, what_, owners, op_);
  if (!in_flight_) finish();
}

void box_transfer::finish() {
  in_flight_.reset();
  for (const part& one : parts_)
    if (one.unpack) one.unpack(one.packed.data());
  parts_.clear();
}

void box_transfer::add(part one, std::size_t bytes) {
  parts_.push_back(std::move(one));
  room_ -= std::min(room_, bytes);
  if (room_ > 0) return;
  begin();
  wait();
  room_ = most_bytes_;
}

std::unique_ptr<box_transfer> box_transfer::start(std::unique_ptr<box_transfer> all) {
  all->begin();
  return all->in_flight_ ? std::move(all) : nullptr;
}

bool box_transfer::test() {
  if (in_flight_) {
    if (!in_flight_->test()) return false;
    finish();
  }
  return true;
}

void box_transfer::wait() {
  if (!in_flight_) return;
  in_flight_->wait();
  finish();
}

}  // namespace syncyte::tensor
