#include "agreement.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "crc32c.hpp"
#include "errors.hpp"

namespace syncyte::hdf5 {
namespace {

constexpr std::size_t longest_text = 300;  // of a path or key in a message

// FNV-1a, 64 bits: to compare what ranks were given, not to withstand anybody.
class fingerprint {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* next = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ next[i]) * 0x100000001B3U;
  }
  void add(std::int64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    add(text.data(), text.size());
  }
  std::int64_t value() const { return static_cast<std::int64_t>(value_); }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

// What ranks must share of an entry: not a sharded one's rows.
std::int64_t hash_of(const entry& one) {
  fingerprint hash;
  hash.add(one.key);
  hash.add(one.layout);
  hash.add(one.dtype);
  hash.add(static_cast<std::int64_t>(one.shape.size()));
  for (std::size_t d = one.sharded() ? 1 : 0; d < one.shape.size(); ++d) hash.add(one.shape[d]);
  hash.add(one.contents_crc);
  return hash.value();
}

std::int64_t hash_of(const arguments& mine) {
  fingerprint hash;
  hash.add(mine.path);
  hash.add(static_cast<std::int64_t>(mine.block_bytes));
  hash.add(mine.step);
  for (const entry& one : mine.entries) hash.add(hash_of(one));
  hash.add(static_cast<std::int64_t>(mine.entries.size()));
  return hash.value();
}

// Only after a mismatch; all ranks are here, as they have agreed on the operation.
// -------------------------------------

std::string quoted(const std::string& text) {
  if (text.size() <= longest_text) return fmt::format("'{}'", text);
  fingerprint hash;
  hash.add(text);
  return fmt::format("'{}...{}' ({} bytes, hash {:x})", text.substr(0, longest_text / 2),
                     text.substr(text.size() - longest_text / 2), text.size(), hash.value());
}

// "a on ranks 0, 1, but b on rank 2", the largest group first; empty if all say the same.
std::string difference(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.first == texts[rank]; });
    if (found == groups.end()) found = groups.insert(groups.end(), {texts[rank], {}});
    found->second.push_back(rank);
  }
  if (groups.size() == 1) return {};
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::vector<std::string> parts;
  for (const auto& [text, members] : groups)
    parts.push_back(fmt::format("{} on rank{} {}", text, members.size() > 1 ? "s" : "", fmt::join(members, ", ")));
  return fmt::format("{}", fmt::join(parts, ", but "));
}

std::string difference_of_arguments(const ranks& all, const arguments& mine) {
  const std::pair<const char*, std::string> texts[] = {{"path", quoted(mine.path)},
                                                       {"block_bytes", fmt::format("{}", mine.block_bytes)},
                                                       {"step", fmt::format("{}", mine.step)}};
  for (const auto& [name, text] : texts)
    if (const std::string found = difference(all.gather(text)); !found.empty())
      return fmt::format("{} is {}", name, found);
  return {};
}

std::string shape_text(const entry& one) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : one.shape) extents.push_back(fmt::format("{}", extent));
  if (one.sharded()) extents[0] = "rows";
  return fmt::format("({})", fmt::join(extents, ", "));
}

// Properties of an entry, by which ranks compare it once its key is the same.
using property = std::pair<const char*, std::string (*)(const entry&)>;
const property properties[] = {
    {"layout", [](const entry& one) { return std::string(one.sharded() ? "sharded" : "replicated"); }},
    {"dtype", [](const entry& one) { return std::string(syncyte_dtype_name(one.dtype)); }},
    {"shape", shape_text},
    {"replicated contents have CRC32C", [](const entry& one) { return fmt::format("{:#010x}", one.contents_crc); }}};

// Entries that differ between ranks: the first, and how many.
struct differing {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t count = 0;
};

// Bounded in memory. `common`: entries that all ranks have.
differing find_differing(const ranks& all, const std::vector<entry>& entries, std::size_t common) {
  differing found;
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 17) / static_cast<std::size_t>(all.size()));
  for (std::size_t begin = 0; begin < common; begin += at_once) {
    std::vector<std::int64_t> mine(std::min(at_once, common - begin));
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = hash_of(entries[begin + i]);
    const std::vector<std::int64_t> table = all.gather(mine);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      bool equal = true;
      for (std::size_t at = i; at < table.size(); at += mine.size()) equal &= table[at] == table[i];
      if (equal) continue;
      found.first = std::min(found.first, begin + i);
      ++found.count;
    }
  }
  return found;
}

// What ranks say of the entry with this number.
std::string difference_of_entry(const ranks& all, const std::vector<entry>& entries, std::size_t number) {
  const std::string key = number < entries.size() ? quoted(entries[number].key) : "missing";
  const std::string keys = difference(all.gather(key));
  if (!keys.empty()) return fmt::format("entry {} is {}", number, keys);
  for (const auto& [name, text] : properties)
    if (const std::string found = difference(all.gather(text(entries[number]))); !found.empty())
      return fmt::format("{}: {} {}", key, name, found);
  return fmt::format("entry {}, {}, differs", number, key);
}

std::string difference_of_entries(const ranks& all, const std::vector<entry>& entries) {
  const std::vector<std::int64_t> counts = all.gather(std::vector{static_cast<std::int64_t>(entries.size())});
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const auto common = static_cast<std::size_t>(*least);
  differing found = find_differing(all, entries, common);
  std::string text;
  if (*least != *most) {
    text = fmt::format("count is {}; ", difference(all.gather(fmt::format("{}", entries.size()))));
    found.first = std::min(found.first, common);
  }
  if (found.first == differing{}.first) return "arguments differ";  // in what quoted() does not show
  text += difference_of_entry(all, entries, found.first);
  return found.count > 1 ? fmt::format("{}; {} entries differ", text, found.count) : text;
}

[[noreturn]] void explain(const ranks& all, const char* operation, const arguments& mine) {
  std::string what = difference_of_arguments(all, mine);
  if (what.empty()) what = difference_of_entries(all, mine.entries);
  fail(SYNCYTE_ERR_MISMATCH, "{}: the ranks disagree: {}", operation, what);
}

}  // namespace

void agree_on(const ranks& all, syncyte_status_t status, const char* operation, arguments& mine, bool contents) {
  all.agree(status, operation);
  for (entry& one : mine.entries)
    if (contents && !one.sharded()) one.contents_crc = crc32c(0, one.data, one.bytes());
  const syncyte_status_t verdict =
      attempt([&] { all.agree(SYNCYTE_SUCCESS, operation, {{"hash of arguments", hash_of(mine)}}); });
  if (verdict == SYNCYTE_ERR_MISMATCH) explain(all, operation, mine);
  check(verdict);
}

}  // namespace syncyte::hdf5
