// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/counted_transport.hpp"

#include <utility>

namespace syncyte::fabric {
namespace {

void add(std::atomic<std::int64_t>& count, std::int64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

class counted_link final : public link {
 public:
  counted_link(std::unique_ptr<link> way, traffic& counts) : way_(std::move(way)), counts_(counts) {
    add(counts_.links, 1);
  }

  void send(std::shared_ptr<const message> sent) override {
    add(counts_.messages, 1);
    add(counts_.bytes, static_cast<std::int64_t>(sizeof sent->header + sent->size));
    way_->send(std::move(sent));
  }

 private:
  std::unique_ptr<link> way_;
  traffic& counts_;
};

class counted_worker final : public worker {
 public:
  counted_worker(std::unique_ptr<worker> way, traffic& counts) : way_(std::move(way)), counts_(counts) {}

  std::string address() const override { return way_->address(); }
  std::unique_ptr<link> connect(std::string_view address, std::uint64_t tag) override {
    return std::make_unique<counted_link>(way_->connect(address, tag), counts_);
  }
  bool progress() override { return way_->progress(); }
  int event() const override { return way_->event(); }
  bool arm() override { return way_->arm(); }

 private:
  std::unique_ptr<worker> way_;
  traffic& counts_;
};

class counted_transport final : public transport {
 public:
  counted_transport(std::unique_ptr<transport> way, traffic& counts) : way_(std::move(way)), counts_(counts) {}

  std::unique_ptr<worker> make_worker(receiver& target) override {
    return std::make_unique<counted_worker>(way_->make_worker(target), counts_);
  }

 private:
  std::unique_ptr<transport> way_;
  traffic& counts_;
};

}  // namespace

std::unique_ptr<transport> counted(std::unique_ptr<transport> way, traffic& counts) {
  return std::make_unique<counted_transport>(std::move(way), counts);
}

}  // namespace syncyte::fabric
