// What one rank of a trial writes down as it goes, in memory that outlives it.
//
// The ranks of a trial keep a journal each, in a mapping that they share with the parent. It can be
// read when the rank is dead: an entry counts once it's complete. Written by one thread of the
// rank.
#pragma once

#include <tensorplay/error.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tensorplay::faults {

// Where in the scenario something happens: the same on all ranks, whatever else they do. Ranks that
// have left a loop have no entries for the iterations that they missed.
struct Place {
  std::uint32_t group = 0;      // 0: of all ranks
  std::uint32_t section = 0;    // of the scenario: grows
  std::uint32_t iteration = 0;  // of the section's loop
  std::uint32_t index = 0;      // within the iteration

  friend auto operator<=>(const Place&, const Place&) = default;
};
std::string to_string(const Place& place);

struct Entry {
  enum class Kind : std::uint32_t {
    operation,    // completed: `ranks` are the contributors
    shadow,       // likewise, by a joined rank in step
    root_lost,    // ended with the news that the root is gone; `value`: who that is
    report,       // of a Join context: `ranks` died in it
    termination,  // EarlyTermination
    state,        // `value` is a checksum of what all ranks should hold
  };

  Place place;
  Kind kind = Kind::operation;
  std::uint32_t reserved = 0;
  std::uint64_t ranks = 0;  // bit r: rank r of the job
  std::uint64_t value = 0;
  std::int64_t at_ns = 0;  // on CLOCK_MONOTONIC
  std::array<char, 112> what{};
};
const char* name(Entry::Kind kind) noexcept;

// Why a rank's group failed, as the rank was told.
struct ToldFailure {
  std::uint32_t group = 0;  // that failed
  std::int32_t rank = -1;
  PeerFailure::Cause cause = PeerFailure::Cause::exited;
  std::int64_t at_ns = 0;
  std::array<char, 4096> text{};
};

class Journal {
 public:
  // All of these: by the rank.
  void set_group(std::uint32_t group) noexcept { group_ = group; }  // whose calls follow
  void add(Entry entry, std::string_view what) noexcept;
  void add_failure(const PeerFailure& failure) noexcept;
  // The rank has done everything that the scenario asks for.
  void end() noexcept { ended_ = 1; }

  // By whoever reads it when the rank has ended.
  std::size_t size() const noexcept { return count_; }
  const Entry& operator[](std::size_t i) const noexcept { return entries_[i]; }
  const Entry* begin() const noexcept { return entries_.data(); }
  const Entry* end_of_entries() const noexcept { return entries_.data() + size(); }
  const ToldFailure* failure() const noexcept { return failed_ != 0 ? &failure_ : nullptr; }
  bool ended() const noexcept { return ended_ != 0; }

 private:
  static constexpr std::size_t kEntriesMax = 6000;

  // Atomic, so that neither compiler nor processor puts them before what they stand for.
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> failed_{0};
  std::atomic<std::uint32_t> ended_{0};
  std::uint32_t group_ = 0;
  ToldFailure failure_;
  std::array<Entry, kEntriesMax> entries_;
};

// Nanoseconds on CLOCK_MONOTONIC, the same for all processes.
std::int64_t now_ns() noexcept;

}  // namespace tensorplay::faults
