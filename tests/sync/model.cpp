#include "tests/sync/model.h"

namespace tensorplay::sync {

void append_word(std::string& text, std::uint64_t word) {
  for (; word >= 0x80; word >>= 7) text += static_cast<char>((word & 0x7f) | 0x80);
  text += static_cast<char>(word);
}

std::uint64_t take_word(const std::string& text, std::size_t& at) {
  std::uint64_t word = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    word |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return word;
  }
}

}  // namespace tensorplay::sync
