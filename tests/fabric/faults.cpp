// SPDX-License-Identifier: BSD-3-Clause
// One rank on each of two or three virtual hosts. The argument says what happens to the last one:
//
//   killed     it ends by SIGKILL; the other's operations fail
//   cut        its link is cut for good; operations of both fail
//   restored   its link is cut twice for 2 s while both add: nothing is lost or doubled
//   restored_late  the same, once, for 6 s of the deadline of 8 s
//   restored_idle  its link is cut for 5 s while there are no requests; then both add
//   restored_asked   the same, but both begin to add while the link is cut
//   broken_idle, broken_asked   the same, but TCP gives up the connections while there are no requests
//   lossy      its link loses many packets during adds and gathers: nothing is lost or doubled
//   store_restored, store_lossy   the same for pushes to a store
//   store_moves_restored, store_moves_lossy   the same, while both take keys from each other
//   store_copies_restored, store_copies_lossy   the same, while both intend to use keys for some pushes
//   news       three hosts: it ends by SIGKILL; rank 1, which never sends it a request, is told
//
// Each rank prints a verdict and ends by _exit(): MPI cannot be used after a death.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "links.h"
#include "syncyte.h"

namespace {

constexpr std::int64_t rows = 64, columns = 65536;  // rows of 256 KiB: 16 MiB in all
constexpr std::int64_t keys = 256, length = 16384;  // vectors of 64 KiB: 16 MiB in all

syncyte_tensor_t tensor = nullptr;
syncyte_store_t store = nullptr;
syncyte_store_worker_t worker = nullptr;
int rank_of_process = -1, ranks = 0;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void sleep_seconds(double how_long) { std::this_thread::sleep_for(std::chrono::duration<double>(how_long)); }

[[noreturn]] void end(const std::string& verdict) {
  std::printf("rank %d: %s\n", rank_of_process, verdict.c_str());
  std::fflush(stdout);
  _exit(0);
}

void require(syncyte_status_t status, const char* what) {
  if (status != SYNCYTE_SUCCESS) end(std::string("unexpected: ") + what + ": " + syncyte_last_error());
}

syncyte_buffer_t buffer_of(void* data, syncyte_dtype_t dtype, std::vector<std::int64_t> shape) {
  syncyte_buffer_t result;
  require(syncyte_buffer_init(data, dtype, static_cast<std::int32_t>(shape.size()), shape.data(), &result), "buffer");
  return result;
}

/// The rank whose rows this one uses: on two hosts the other one; on three hosts rank 0 uses rank 2, the others rank 0.
std::int32_t other_rank() { return rank_of_process == 0 ? ranks - 1 : 0; }

/// All rows of the other rank.
std::vector<std::int64_t> rows_of_other() {
  std::int64_t first = 0, count = 0;
  require(syncyte_tensor_rows(tensor, other_rank(), &first, &count), "rows");
  std::vector<std::int64_t> index;
  for (std::int64_t i = 0; i < count; ++i) index.push_back(first + i);
  return index;
}

syncyte_status_t gather(std::vector<float>& output) {
  auto index = rows_of_other();
  const auto count = static_cast<std::int64_t>(index.size());
  output.resize(static_cast<std::size_t>(count * columns));
  const syncyte_buffer_t wanted = buffer_of(index.data(), SYNCYTE_INT64, {count});
  const syncyte_buffer_t found = buffer_of(output.data(), SYNCYTE_FLOAT32, {count, columns});
  return syncyte_tensor_gather(tensor, &wanted, &found);
}

syncyte_status_t add_ones() {
  auto index = rows_of_other();
  const auto count = static_cast<std::int64_t>(index.size());
  std::vector<float> ones(static_cast<std::size_t>(count * columns), 1.0f);
  const syncyte_buffer_t wanted = buffer_of(index.data(), SYNCYTE_INT64, {count});
  const syncyte_buffer_t source = buffer_of(ones.data(), SYNCYTE_FLOAT32, {count, columns});
  return syncyte_tensor_scatter_add(tensor, &wanted, &source);
}

std::vector<std::int64_t> keys_of_other() {
  std::vector<std::int64_t> all(keys), chosen;
  std::vector<std::int32_t> owners(keys);
  std::iota(all.begin(), all.end(), 0);
  require(syncyte_store_owner(store, keys, all.data(), owners.data()), "owner");
  for (std::size_t i = 0; i < all.size(); ++i)
    if (owners[i] == other_rank()) chosen.push_back(all[i]);
  return chosen;
}

syncyte_status_t pull(std::vector<float>& output) {
  auto list = keys_of_other();
  const auto count = static_cast<std::int64_t>(list.size());
  output.resize(static_cast<std::size_t>(count * length));
  const syncyte_buffer_t wanted = buffer_of(list.data(), SYNCYTE_INT64, {count});
  const syncyte_buffer_t found = buffer_of(output.data(), SYNCYTE_FLOAT32, {count * length});
  return syncyte_store_worker_pull(worker, &wanted, &found);
}

syncyte_status_t push_ones() {
  auto list = keys_of_other();
  const auto count = static_cast<std::int64_t>(list.size());
  std::vector<float> ones(static_cast<std::size_t>(count * length), 1.0f);
  const syncyte_buffer_t wanted = buffer_of(list.data(), SYNCYTE_INT64, {count});
  const syncyte_buffer_t source = buffer_of(ones.data(), SYNCYTE_FLOAT32, {count * length});
  return syncyte_store_worker_push(worker, &wanted, &source);
}

std::vector<std::int64_t> random_keys(std::size_t count) {
  static std::mt19937 random(static_cast<unsigned>(rank_of_process));
  std::vector<std::int64_t> result(count);
  for (auto& key : result) key = static_cast<std::int64_t>(random() % keys);
  return result;
}

/// push_ones() while some keys, others each time, move here.
syncyte_status_t move_and_push_ones() {
  auto taken = random_keys(16);
  const syncyte_buffer_t wanted = buffer_of(taken.data(), SYNCYTE_INT64, {std::ssize(taken)});
  syncyte_request_t moving = nullptr;
  require(syncyte_store_worker_ilocalize(worker, &wanted, &moving), "ilocalize");
  const syncyte_status_t status = push_ones();
  require(syncyte_request_wait(&moving), "localize");
  return status;
}

/// push_ones() in a new clock, while this node has, or gets, copies or main copies of keys that it intends to use in
/// this clock or the next two.
syncyte_status_t intend_and_push_ones() {
  auto intended = random_keys(64);
  const syncyte_buffer_t wanted = buffer_of(intended.data(), SYNCYTE_INT64, {std::ssize(intended)});
  std::int64_t clock = 0;
  require(syncyte_store_worker_advance_clock(worker, &clock), "advance_clock");
  require(syncyte_store_worker_intent(worker, &wanted, clock, clock + 3), "intent");
  return push_ones();
}

/// How ranks add to data that they share, and read them.
struct shared_data {
  syncyte_status_t (*add)();
  syncyte_status_t (*read)(std::vector<float>& output);
  syncyte_status_t (*sync)();
};

const shared_data of_tensor{add_ones, gather, [] { return syncyte_tensor_sync(tensor); }};
const shared_data of_store{push_ones, pull, [] { return syncyte_store_sync(store); }};
const shared_data of_moves{move_and_push_ones, pull, [] { return syncyte_store_sync(store); }};
const shared_data of_copies{intend_and_push_ones, pull, [] { return syncyte_store_sync(store); }};

void expect_exactly(int adds, const shared_data& data) {
  std::vector<float> output;
  require(data.read(output), "read");
  for (const float value : output)
    if (value != static_cast<float>(adds)) end("unexpected: " + std::to_string(value));
}

/// Operations until one fails, which has to be within 10 seconds of `begin`.
void expect_death(double begin) {
  std::vector<float> output;
  syncyte_status_t status = SYNCYTE_SUCCESS;
  while (status == SYNCYTE_SUCCESS) status = gather(output);
  const std::string text = syncyte_last_error();
  const double waited = seconds() - begin;
  const std::string other = "rank " + std::to_string(other_rank());
  if (status != SYNCYTE_ERR_PEER_DIED || text.find(other) == std::string::npos || waited > 10)
    end("unexpected: after " + std::to_string(waited) + " s: " + text);
  const double again = seconds();
  if (add_ones() != SYNCYTE_ERR_PEER_DIED || seconds() - again > 1) end("unexpected: the second error is late");
  end("answered PEER_DIED");
}

/// Cuts rank 1's link for so many seconds; with 0, for good.
void cut_link(double how_long) {
  if (links_cut(2, how_long) != 0) end("unexpected: the link cannot be cut");
}

/// Adds, and returns how long that took.
double timed_add(const shared_data& data) {
  const double begin = seconds();
  require(data.add(), "add");
  return seconds() - begin;
}

/// Ends with the verdict on so many adds, once both ranks have checked theirs.
[[noreturn]] void end_exactly(int adds, const shared_data& data) {
  expect_exactly(adds, data);
  require(data.sync(), "sync");
  end("nothing lost or doubled");
}

/// A file that both ranks see. Each run begins without it.
constexpr const char* cuts_are_over = "cuts_are_over";

/// Cuts the link, each time for so many seconds, and pauses for 2 s after each cut.
void cut_often(int cuts, double seconds_each) {
  for (int i = 0; i < cuts; ++i) {
    sleep_seconds(0.3 + 0.07 * i);
    cut_link(seconds_each);
    sleep_seconds(seconds_each + 2);
  }
  if (!std::ofstream(cuts_are_over)) end("unexpected: the working folder cannot be written");
}

/// Both ranks add while a thread of rank 0 cuts the link in the middle of transfers.
[[noreturn]] void run_restored(const shared_data& data, int cuts, double seconds_each) {
  std::thread cutter([=] {
    if (rank_of_process == 0) cut_often(cuts, seconds_each);
  });
  double longest = 0;
  int adds = 0;
  for (; !std::filesystem::exists(cuts_are_over); ++adds) {
    longest = std::max(longest, timed_add(data));
    sleep_seconds(0.005);  // the process that cuts links needs a core
  }
  cutter.join();
  if (longest < seconds_each / 2) end("unexpected: no add waited for the link: " + std::to_string(longest) + " s");
  end_exactly(adds, data);
}

/// TCP gives up a connection 2 s after a message that is not acknowledged, in place of minutes. UCX sends a keepalive
/// message each second, so it finds the connections of a cut link broken.
void shorten_tcp() {
  std::ofstream setting("/proc/sys/net/ipv4/tcp_retries2");
  if (!(setting << 1 << std::flush)) end("SKIPPED: this machine cannot shorten TCP's limit");
}

/// A counter of TCP on this host, from the kernel's line of names and its line of values.
int tcp_counter(const std::string& wanted) {
  std::ifstream file("/proc/net/netstat");
  std::string names, values, name, value;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream next_name(names), next_value(values);
    while (next_name >> name && next_value >> value)
      if (name == wanted) return std::stoi(value);
  }
  end("unexpected: no counter " + wanted);
}

/// The link is cut for 5 s while there are no requests. Both ranks add again `idle` seconds after the last ones. The
/// counter shows that TCP has noticed the cut by then.
[[noreturn]] void run_idle(const shared_data& data, double idle, const std::string& counter) {
  constexpr double how_long = 5;
  constexpr int adds = 3;
  for (int i = 0; i < adds; ++i) require(data.add(), "add");
  require(data.sync(), "sync");
  const int before = tcp_counter(counter);
  const double begin = seconds();
  sleep_seconds(0.3);  // the messages of sync() have arrived
  if (rank_of_process == 0) cut_link(how_long);
  sleep_seconds(begin + idle - seconds());
  if (tcp_counter(counter) == before) end("unexpected: the cut has not changed " + counter);
  require(data.add(), "the first add");
  if (seconds() < begin + how_long) end("unexpected: an add was answered before the link was restored");
  for (int i = 1; i < adds; ++i) require(data.add(), "add");
  end_exactly(2 * adds, data);
}

/// Limits the rate of rank 1's link, with a queue that loses packets. Ends all ranks if this machine cannot do it.
void lose_packets(syncyte_comm_t world) {
  std::int32_t status = rank_of_process == 0 ? links_request("shape 2 200 16") : 0;
  const syncyte_buffer_t told = buffer_of(&status, SYNCYTE_INT32, {1});
  require(syncyte_comm_bcast(world, 0, nullptr, &told), "bcast");
  if (status == LINKS_UNSUPPORTED) end("SKIPPED: this machine cannot limit rates");
  if (status != 0) end("unexpected: the link cannot be limited");
}

/// Adds and reads over a link that loses packets.
[[noreturn]] void run_lossy(const shared_data& data, syncyte_comm_t world) {
  lose_packets(world);
  constexpr int adds = 2;
  for (int i = 0; i < adds; ++i) require(data.add(), "add");
  require(data.sync(), "sync");
  expect_exactly(adds, data);
  require(data.sync(), "sync");
  if (rank_of_process == 0 && links_request("lost 2") != 0) end("unexpected: no packet was lost");
  end("nothing lost or doubled");
}

/// Rank 2 dies. Rank 0 asks it for rows, rank 1 waits for it in a barrier.
[[noreturn]] void run_news(syncyte_comm_t world) {
  const double begin = seconds();
  if (rank_of_process == 2) {
    sleep_seconds(0.5);
    raise(SIGKILL);
  }
  std::vector<float> output;
  syncyte_status_t status = SYNCYTE_SUCCESS;
  if (rank_of_process == 1) status = syncyte_comm_barrier(world);
  while (status == SYNCYTE_SUCCESS) status = gather(output);
  const std::string text = syncyte_last_error();
  const double waited = seconds() - begin;
  if (status != SYNCYTE_ERR_PEER_DIED || text.find("rank 2") == std::string::npos || waited > 10.5)
    end("unexpected: after " + std::to_string(waited) + " s: " + text);
  end("answered PEER_DIED");
}

void make_store(syncyte_comm_t world) {
  require(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &length, nullptr, &store), "store_create");
  require(syncyte_store_worker_create(store, 0, &worker), "worker");
  std::vector<float> output;
  require(pull(output), "pull");  // there is a connection
  require(syncyte_store_sync(store), "sync");
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  syncyte_comm_t world = nullptr;
  const std::int64_t shape[] = {rows, columns};
  require(syncyte_init(nullptr), "init");
  require(syncyte_comm_world(&world), "world");
  std::int32_t rank = 0;
  require(syncyte_comm_rank(world, &rank), "rank");
  require(syncyte_comm_size(world, &ranks), "size");
  rank_of_process = rank;
  require(syncyte_tensor_create(world, SYNCYTE_FLOAT32, 2, shape, nullptr, &tensor), "create");
  std::vector<float> output;
  require(gather(output), "gather");  // there is a connection
  require(syncyte_tensor_sync(tensor), "sync");
  if (what.starts_with("store")) make_store(world);
  if (what == "restored") run_restored(of_tensor, 2, 2);
  if (what == "restored_late") run_restored(of_tensor, 1, 6);
  if (what == "store_restored") run_restored(of_store, 2, 2);
  if (what == "store_moves_restored") run_restored(of_moves, 2, 2);
  if (what == "store_copies_restored") run_restored(of_copies, 2, 2);
  if (what.starts_with("broken")) shorten_tcp();
  if (what == "restored_idle") run_idle(of_tensor, 6, "TCPTimeouts");
  if (what == "restored_asked") run_idle(of_tensor, 4.5, "TCPTimeouts");
  if (what == "broken_idle") run_idle(of_tensor, 6, "TCPAbortOnTimeout");
  if (what == "broken_asked") run_idle(of_tensor, 4.5, "TCPAbortOnTimeout");
  if (what == "lossy") run_lossy(of_tensor, world);
  if (what == "store_lossy") run_lossy(of_store, world);
  if (what == "store_moves_lossy") run_lossy(of_moves, world);
  if (what == "store_copies_lossy") run_lossy(of_copies, world);
  if (what == "news") run_news(world);
  if (rank == 1) {
    sleep_seconds(0.5);
    if (what == "killed") raise(SIGKILL);
    cut_link(0);
  } else {
    sleep_seconds(0.3);
  }
  expect_death(seconds());
}
