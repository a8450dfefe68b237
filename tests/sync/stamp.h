// What stepped ranks send each other.
#pragma once

#include <cstdint>
#include <cstring>

namespace tensorplay::sync {

// A rank's value in an operation: no other rank or operation has it.
inline std::uint64_t stamp(std::uint64_t rank, std::uint64_t number) {
  return number << 8 | rank;
}

inline void write_word(void* place, std::uint64_t word) {
  std::memcpy(place, &word, sizeof(word));
}

inline std::uint64_t read_word(const void* place) {
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

}  // namespace tensorplay::sync
