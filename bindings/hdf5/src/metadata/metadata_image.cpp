// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/metadata_image.hpp"

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"

namespace syncyte::hdf5 {

std::vector<extent> complement(std::vector<extent> used, std::uint64_t begin, std::uint64_t end) {
  std::erase_if(used, [](const extent& part) { return part.bytes == 0; });
  std::ranges::sort(used, {}, &extent::offset);
  std::vector<extent> gaps;
  for (const extent& part : used) {
    require(part.offset >= begin && part.bytes <= end && part.offset <= end - part.bytes, SYNCYTE_ERR_FORMAT,
            "data at {} ({} bytes) overlaps other data or leaves the file", part.offset, part.bytes);
    if (part.offset > begin) gaps.push_back({begin, part.offset - begin});
    begin = part.end();
  }
  if (begin < end) gaps.push_back({begin, end - begin});
  return gaps;
}

void metadata_image::read(std::uint64_t offset, void* target, std::size_t bytes) const {
  auto* next = static_cast<std::byte*>(target);
  visit({offset, bytes}, [&](std::uint64_t, const std::byte* data, std::size_t piece) {
    std::memcpy(next, data, piece);
    next += piece;
  });
}

void metadata_image::write(std::uint64_t offset, const void* source, std::size_t bytes) {
  const auto* next = static_cast<const std::byte*>(source);
  size_ = std::max(size_, offset + bytes);
  while (bytes > 0) {
    const std::size_t inside = offset % page_bytes;
    const std::size_t piece = std::min(bytes, page_bytes - inside);
    auto& target = pages_[offset / page_bytes];
    if (!target) target = std::make_unique<page>();  // zeros
    std::memcpy(target->data() + inside, next, piece);
    offset += piece;
    next += piece;
    bytes -= piece;
  }
}

void metadata_image::visit(extent part,
                           const std::function<void(std::uint64_t, const std::byte*, std::size_t)>& use) const {
  static const page zeros{};
  while (part.bytes > 0) {
    const std::size_t inside = part.offset % page_bytes;
    const std::size_t piece = std::min<std::uint64_t>(part.bytes, page_bytes - inside);
    const auto found = pages_.find(part.offset / page_bytes);
    use(part.offset, (found == pages_.end() ? zeros : *found->second).data() + inside, piece);
    part.offset += piece;
    part.bytes -= piece;
  }
}

}  // namespace syncyte::hdf5
