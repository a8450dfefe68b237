// What stands in Life::end: which record tells how a rank ended, or cause and status alone.
//
//   bits 0-7     0: nobody has told; 1 + number of an EndRecord; kWordless
//   bits 8-15    without words: PeerFailure::Cause
//   bits 32-63   without words: exit code or signal; PeerFailure::kUnknownStatus
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace tensorplay::sync {

inline constexpr std::uint64_t kWordless = 0xff;
static_assert(shm::kEndRecords < kWordless);

constexpr std::uint64_t end_word(std::uint32_t record) noexcept {
  return 1 + std::uint64_t{record};
}
constexpr std::uint64_t end_word(PeerFailure::Cause cause, int status) noexcept {
  return kWordless | static_cast<std::uint64_t>(cause) << 8 |
         std::uint64_t{static_cast<std::uint32_t>(status)} << 32;
}

// The number of the record; kEndRecords or more for a word that names none.
constexpr std::uint64_t record_named_by(std::uint64_t word) noexcept {
  return (word & 0xff) - 1;
}
// A cause from shared memory.
constexpr PeerFailure::Cause bounded_cause(std::uint64_t cause) noexcept {
  return static_cast<PeerFailure::Cause>(
      std::min(cause, static_cast<std::uint64_t>(PeerFailure::Cause::killed)));
}
// Of a word that names no record.
constexpr PeerFailure::Cause cause_in(std::uint64_t word) noexcept {
  return bounded_cause(word >> 8 & 0xff);
}
constexpr int status_in(std::uint64_t word) noexcept {
  return static_cast<int>(static_cast<std::uint32_t>(word >> 32));
}

// The words for an end of which only that is known. Takes no memory: a rank may be out of it.
inline std::array<char, 96> words_for(PeerFailure::Cause cause, int status) noexcept {
  std::array<char, 96> words{};
  if (cause == PeerFailure::Cause::raised) {
    std::snprintf(words.data(), words.size(), "raised an exception");
  } else if (status == PeerFailure::kUnknownStatus) {
    std::snprintf(words.data(), words.size(), "has ended (it exited or was killed)");
  } else if (cause == PeerFailure::Cause::killed) {
    std::snprintf(words.data(), words.size(), "was ended by signal %d (%s)", status,
                  strsignal(status));
  } else {
    std::snprintf(words.data(), words.size(), "exited with code %d", status);
  }
  return words;
}

}  // namespace tensorplay::sync
