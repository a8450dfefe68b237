#include "tests/faults/journal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tensorplay::faults {
namespace {

template <std::size_t N>
void copy_text(std::array<char, N>& to, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

}  // namespace

std::string to_string(const Place& place) {
  return "group " + std::to_string(place.group) + ", section " + std::to_string(place.section) +
         ", iteration " + std::to_string(place.iteration) + ", call " + std::to_string(place.index);
}

const char* name(Entry::Kind kind) noexcept {
  switch (kind) {
    case Entry::Kind::operation:
      return "operation";
    case Entry::Kind::shadow:
      return "shadow";
    case Entry::Kind::root_lost:
      return "root lost";
    case Entry::Kind::report:
      return "report";
    case Entry::Kind::termination:
      return "early termination";
    case Entry::Kind::state:
      return "state";
  }
  return "unknown";
}

void Journal::add(Entry entry, std::string_view what) noexcept {
  if (count_ == kEntriesMax) {
    std::fputs("a scenario has more entries than a journal\n", stderr);
    std::abort();
  }
  entry.at_ns = now_ns();
  copy_text(entry.what, what);
  entries_[count_] = entry;
  ++count_;
}

void Journal::add_failure(const PeerFailure& failure) noexcept {
  failure_.group = group_;
  failure_.rank = failure.rank();
  failure_.cause = failure.cause();
  failure_.at_ns = now_ns();
  copy_text(failure_.text, failure.what());
  failed_ = 1;
}

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace tensorplay::faults
