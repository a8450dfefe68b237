// Posting an operation, and seeing that a peer has.
#pragma once

#include "lib/shm/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tensorplay::sync {

// What became of a peer's arrival at an operation.
enum class Arrival { missing, arrived, overrun };

inline shm::ArrivalLine& arrival_line(shm::MemberBlock& member, std::uint64_t number) noexcept {
  return member.arrivals[number % shm::kOperationSlots];
}
inline const shm::ArrivalLine& arrival_line(const shm::MemberBlock& member,
                                            std::uint64_t number) noexcept {
  return member.arrivals[number % shm::kOperationSlots];
}
inline std::byte* post_slot(shm::MemberBlock& member, std::uint64_t number) noexcept {
  return member.posts[number % shm::kOperationSlots].data();
}

// Places are named in a payload by their offsets in the segment, one after the other. Owner only.
inline void name_place(shm::ArrivalLine& line, std::size_t index, std::uint64_t offset) noexcept {
  std::memcpy(line.payload.data() + index * sizeof(offset), &offset, sizeof(offset));
}
// As it stands in shared memory: check it.
inline std::uint64_t named_place(const shm::ArrivalLine& line, std::size_t index) noexcept {
  std::uint64_t offset = 0;
  std::memcpy(&offset, line.payload.data() + index * sizeof(offset), sizeof(offset));
  return offset;
}

// Owner only; the rest of the line, and the post slot, are filled in.
inline void publish_arrival(shm::ArrivalLine& line, std::uint64_t number) noexcept {
  // SYNC arrival. Release: pairs with observe_arrival(); the descriptor, the payload and the post
  // slot written before are visible to whoever sees this number.
  line.number.store(number, std::memory_order_release);
}

// `overrun` is a number that can't be there while somebody is still in operation `number`.
inline Arrival observe_arrival(const shm::ArrivalLine& line, std::uint64_t number) noexcept {
  // SYNC arrival. Acquire: pairs with publish_arrival().
  const std::uint64_t seen = line.number.load(std::memory_order_acquire);
  return seen == number ? Arrival::arrived : seen < number ? Arrival::missing : Arrival::overrun;
}

// The number last posted in this line, for reports only.
inline std::uint64_t posted_number(const shm::ArrivalLine& line) noexcept {
  // Relaxed: a figure for a message; nothing is read through it.
  return line.number.load(std::memory_order_relaxed);
}

// Owner only: takes no part from operation `from` on.
inline void publish_absence(shm::MemberBlock& member, std::uint64_t from) noexcept {
  // SYNC absence. Release: pairs with observe_absence(); all that this rank read from its peers'
  // slots was read before, so that they may be written again.
  member.absent_from.store(from, std::memory_order_release);
}

// Whether the member takes no part in `number`, in the context that began at `context_begin`.
inline bool observe_absence(const shm::MemberBlock& member, std::uint64_t number,
                            std::uint64_t context_begin) noexcept {
  // SYNC absence. Acquire: pairs with publish_absence().
  const std::uint64_t from = member.absent_from.load(std::memory_order_acquire);
  return from >= context_begin && from <= number;
}

// The operation that observe_absence() has found.
inline std::uint64_t absent_from(const shm::MemberBlock& member) noexcept {
  // Relaxed: the word was acquired when the absence was observed; it is written once per context.
  return member.absent_from.load(std::memory_order_relaxed);
}

// Owner only, before publish_departure(): why it gives up the group.
inline void publish_departure_text(shm::MemberBlock& member, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), member.departure_text.size() - 1);
  std::memcpy(member.departure_text.data(), text.data(), length);
  member.departure_text[length] = '\0';
}

// After observe_departure().
inline std::string departure_text(const shm::MemberBlock& member) {
  const auto& text = member.departure_text;
  return std::string(text.data(), strnlen(text.data(), text.size()));
}

// Owner only, once: gives up the group.
inline void publish_departure(shm::MemberBlock& member, shm::Departure how) noexcept {
  // SYNC departure. Release: pairs with observe_departure(); this rank's last arrivals and progress
  // were published before.
  member.departure.store(how, std::memory_order_release);
}

// Look for the awaited word once more after this: it may have been published in between.
inline shm::Departure observe_departure(const shm::MemberBlock& member) noexcept {
  // SYNC departure. Acquire: pairs with publish_departure().
  return member.departure.load(std::memory_order_acquire);
}

}  // namespace tensorplay::sync
