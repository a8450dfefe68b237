// A fault: what happens to which rank, and where.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensorplay::faults {

enum class Action : std::uint32_t {
  kill,   // SIGKILL
  abort,  // SIGABRT
  exit,   // _exit(3)
  raise,  // an exception
  stop,   // SIGSTOP, and SIGCONT a while later
};
inline constexpr std::array kActions = {Action::kill, Action::abort, Action::exit, Action::raise,
                                        Action::stop};
const char* name(Action action) noexcept;

// Whether the rank is gone afterwards.
constexpr bool is_deadly(Action action) noexcept {
  return action != Action::stop;
}

struct Fault {
  Action action = Action::kill;
  int victim = 0;
  // The fault point, and how often the victim has passed it then, from 1. Empty: at a time instead;
  // only kill and stop can be had from outside.
  std::string point;
  int pass = 1;
  std::int64_t after_ns = 0;    // since the victim has begun
  std::int64_t stopped_ns = 0;  // how long a stop lasts
};

// "kill rank 1 at vault.copied, pass 2".
std::string to_string(const Fault& fault);

// What an exception at a fault point is.
class InjectedException : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Whether an exception may be raised there: not in functions that promise to throw nothing.
bool may_raise_at(const std::string& point) noexcept;

// What became of the faults of one rank, in memory that outlives it. Writers: the rank, and the
// warden for faults from outside.
struct VictimRecord {
  std::atomic<std::int32_t> pid{0};          // once the rank is armed
  std::atomic<std::int64_t> begun_at_ns{0};  // likewise
  std::atomic<std::uint32_t> retired{0};     // nothing happens to it from outside any more
  std::array<std::atomic<std::uint32_t>, kActions.size()> struck{};  // faults that happened
  std::atomic<std::uint32_t> deadly{0};  // of these, those that end the rank
  std::atomic<std::int64_t> struck_at_ns{0};
  std::atomic<std::int64_t> continue_at_ns{0};    // set: stopped until then
  std::atomic<std::uint32_t> contexts_joined{0};  // Join contexts that it had told to have joined
  std::array<char, 48> point{};                   // where the last one happened
};

// How often each fault point is passed, in memory that outlives the rank.
class PassCounts {
 public:
  void count(const char* point) noexcept;
  std::map<std::string, int> by_point() const;

 private:
  struct Line {
    std::array<char, 48> point{};
    std::int32_t passes = 0;
  };
  std::array<Line, 128> lines_;
};

// Writes down that the fault happens now, at that point; "" from outside. By whoever makes it
// happen, before it does.
void note(VictimRecord& record, const Fault& fault, const char* point) noexcept;

// From now on the faults of this process's rank happen, and passes are counted. `record` and
// `counts` outlive the process.
void arm(const std::vector<Fault>& faults_of_rank, VictimRecord& record, PassCounts& counts);
// From now on nothing happens to the rank from outside: its process may end at any time. Faults at
// fault points still happen.
void retire() noexcept;

}  // namespace tensorplay::faults
