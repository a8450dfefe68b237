#include "lib/algorithms/join_board.h"

#include "lib/algorithms/join_conditions.h"
#include "lib/base/fault_point.h"
#include "lib/distributed/member_end.h"
#include "lib/distributed/posted_call.h"
#include "lib/distributed/report.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/arrival.h"
#include "lib/sync/doorbell.h"
#include "lib/sync/liveness.h"
#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstring>

namespace tensorplay::distributed::algorithms {
namespace {

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Never negative, whatever the board says: differences of two can be counted.
std::int64_t joined_at_ns(const shm::JoinBoard& board) {
  return std::max<std::int64_t>(0, board.joined_at_ns);
}

}  // namespace

// FNV-1a, 32 bits.
std::uint32_t fingerprint_of(const std::string& config) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const char c : config) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash == 0 ? 1 : hash;
}

JoinBoard::JoinBoard(GroupEngine& engine, std::string config, std::chrono::nanoseconds timeout)
    : engine_(engine),
      generation_(++engine.membership().generation),
      timeout_(timeout),
      began_(std::max(engine.membership().next_context_from, engine.job().began())) {
  config = "context " + std::to_string(generation_) + ": " + config;
  shm::JoinBoard& board = own();
  const std::size_t length = std::min(config.size(), board.config.size() - 1);
  std::memcpy(board.config.data(), config.data(), length);
  board.config[length] = '\0';
  board.fingerprint = fingerprint_of(config);
  fault_point("join.before_entered");
  sync::publish_iteration(board, generation_, 0);
  fault_point("join.entered");
  Membership& membership = engine_.membership();
  membership.inside = true;
  membership.fingerprint = board.fingerprint;
  membership.iteration = 0;
}

JoinBoard::~JoinBoard() {
  leave();
}

shm::JoinBoard& JoinBoard::of(int member) const noexcept {
  return sync::board_of(engine_.memory().member(member), generation_);
}

shm::JoinBoard& JoinBoard::own() const noexcept {
  return of(engine_.rank());
}

void JoinBoard::join(bool in_step) {
  engine_.drain();
  shm::JoinBoard& board = own();
  board.final_operation = engine_.next_number();
  board.joined_at_ns = now_ns();
  engine_.membership().next_context_from = std::chrono::steady_clock::now();
  fault_point("join.before_joined");
  sync::publish_joined(board, generation_);
  fault_point("join.joined");
  if (!in_step) sync::publish_absence(engine_.memory().own(), engine_.next_number());
  fault_point("join.absent");
  sync::ring_all(engine_.memory().segment());
}

void JoinBoard::resume() {
  std::uint64_t last = 0;
  for (int m = 0; m < engine_.size(); ++m) last = std::max(last, final_operation(m));
  leave();
  fault_point("join.ended");
  // One number is left out: an absence from `last` on must be older than the next context.
  engine_.resume_at(last + 1);
}

void JoinBoard::leave() noexcept {
  if (left_) return;
  left_ = true;
  Membership& membership = engine_.membership();
  membership.inside = false;
  membership.fingerprint = 0;
  membership.iteration = 0;
  membership.tag = 0;
}

sync::JoinBoardReading JoinBoard::read(int member) const {
  sync::JoinBoardReading reading = sync::read_board(of(member), generation_);
  const bool differs = reading.entered && of(member).fingerprint != own().fingerprint;
  if (differs || reading.passed) fail_different();
  if (reading.iterations > iterations_max_) check_iterations(member, reading.iterations);
  // Who died without having joined counts as joined, with the iterations that it had announced.
  reading.joined = reading.joined || engine_.membership().lost.contains(member);
  return reading;
}

// Whoever is in step repeats what the others announce: a damaged count would keep it busy for days.
void JoinBoard::check_iterations(int member, std::uint64_t iterations) const {
  // An announcement is some calls, a store and what the program does in between: 7 ns at 3 GHz.
  constexpr std::chrono::nanoseconds kAnnouncementMin{2};
  const auto time = std::chrono::steady_clock::now() - began_;
  iterations_max_ = static_cast<std::uint64_t>(time / kAnnouncementMin);
  if (iterations <= iterations_max_) return;
  throw SegmentError(rank_label(engine_.memory(), member) + " announces iteration " +
                     std::to_string(iterations) + ", " +
                     std::to_string(time / std::chrono::milliseconds(1)) +
                     " ms after its Join context can have begun: the segment is damaged");
}

// Who died before it joined takes part in nothing after its last operation: the same number on all
// survivors, as nobody writes the words any more.
std::uint64_t JoinBoard::final_operation(int member) const {
  if (!sync::read_board(of(member), generation_).joined) {
    return engine_.membership().lost_from[static_cast<std::size_t>(member)];
  }
  const std::uint64_t number = of(member).final_operation;
  if (number == 0 || number >= sync::kNumberMax) {
    throw SegmentError(rank_label(engine_.memory(), member) +
                       " says that it joined before operation " + std::to_string(number) +
                       ": the segment is damaged");
  }
  return number;
}

void JoinBoard::fail_different() const {
  engine_.fail(context_mismatch(engine_.memory(), generation_));
  engine_.throw_if_failed();
  throw CollectiveMismatch("the ranks' Join contexts differ");
}

bool JoinBoard::has_run_out(int member) const noexcept {
  return sync::read_board(of(member), generation_).joined;
}

std::uint64_t JoinBoard::most_iterations_of_others() const {
  std::uint64_t most = 0;
  for (int m = 0; m < engine_.size(); ++m) {
    if (m != engine_.rank()) most = std::max(most, read(m).iterations);
  }
  return most;
}

std::uint64_t JoinBoard::signs_of_progress() const {
  std::uint64_t signs = 0;
  for (int m = 0; m < engine_.size(); ++m) {
    const shm::MemberBlock& block = engine_.memory().member(m);
    const sync::JoinBoardReading reading = read(m);
    signs += reading.iterations + (reading.joined ? 1 : 0) + (reading.entered ? 1 : 0);
    for (const shm::ArrivalLine& line : block.arrivals) signs += sync::posted_number(line);
  }
  return signs;
}

JoinReport JoinBoard::report() const {
  JoinReport report;
  report.enabled = true;
  std::uint64_t most = 0;
  std::int64_t last_joined_at = 0;
  Contributors died;
  for (int m = 0; m < engine_.size(); ++m) {
    if (!sync::read_board(of(m), generation_).joined) {
      died.insert(m);
      report.deaths.push_back(death_of(m));
      continue;
    }
    most = std::max(most, read(m).iterations);
    last_joined_at = std::max(last_joined_at, joined_at_ns(of(m)));
  }
  for (int m = 0; m < engine_.size(); ++m) {
    const std::uint64_t iterations = read(m).iterations;
    report.ranks.push_back({static_cast<std::int64_t>(iterations), 0, {}});
    if (died.contains(m)) continue;
    report.ranks.back().shadowed = static_cast<std::int64_t>(most - iterations);
    report.ranks.back().waiting = std::chrono::nanoseconds(last_joined_at - joined_at_ns(of(m)));
    if (iterations == most) report.last_joiners.insert(m);
  }
  report.authoritative_rank = report.last_joiners.highest();
  return report;
}

JoinReport::Death JoinBoard::death_of(int member) const {
  const MemberEnd end = end_of_member(engine_.memory(), member);
  const sync::JoinBoardReading reading = sync::read_board(of(member), generation_);
  JoinReport::Death death;
  death.rank = member;
  death.pid = sync::pid_of(engine_.memory().life(member));
  death.cause = end.cause;
  death.how = end.text;
  if (reading.entered) death.iteration = static_cast<std::int64_t>(reading.iterations);
  death.last_operation = last_posted(engine_.memory().member(member));
  return death;
}

void JoinBoard::wait_for_iteration(std::uint64_t iteration) {
  IterationReached condition(*this, iteration);
  engine_.wait_for(condition);
  fault_point("join.iteration_agreed");
}

void JoinBoard::wait_for_all(std::int64_t skew_warning_threshold) {
  AllJoined condition(*this, skew_warning_threshold);
  engine_.wait_for(condition);
  fault_point("join.all_joined");
  condition.warn_of_skew();
}

}  // namespace tensorplay::distributed::algorithms
