#include "tests/faults/player.h"

#include "lib/base/fault_point.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

namespace tensorplay::faults {

using conformance::Case;
using distributed::Contributors;
using distributed::ProcessGroup;
using distributed::algorithms::JoinReport;

namespace {

bool has_root(conformance::CollectiveKind kind) {
  using enum conformance::CollectiveKind;
  return kind == reduce || kind == broadcast || kind == gather || kind == scatter;
}

// Everything that a report says, but for how long it took.
std::string outline(const JoinReport& report) {
  std::ostringstream text;
  text << "last " << to_string(report.last_joiners) << ", iterations";
  for (const JoinReport::Rank& rank : report.ranks) {
    text << " " << rank.iterations << "+" << rank.shadowed;
  }
  for (const JoinReport::Death& death : report.deaths) {
    text << "; rank " << death.rank << " died in " << death.iteration << " after "
         << death.last_operation << ", " << static_cast<int>(death.cause);
  }
  return text.str();
}

}  // namespace

Player::Player(const ProcessGroup& world, Journal& journal, worlds::Findings& found,
               distributed::PeerFailurePolicy policy)
    : group_(world),
      journal_(journal),
      found_(found),
      survives_(policy == distributed::PeerFailurePolicy::continue_without),
      members_(static_cast<std::size_t>(world.size())) {
  std::iota(members_.begin(), members_.end(), 0);
}

Player::Player(const Player& parent, ProcessGroup group, std::uint32_t number)
    : group_(std::move(group)),
      journal_(parent.journal_),
      found_(parent.found_),
      survives_(parent.survives_),
      members_(static_cast<std::size_t>(group_.size()), -1) {
  place_.group = number;
}

void Player::begin_section() {
  journal_.set_group(place_.group);
  place_ = {place_.group, place_.section + 1, 0, 0};
}

void Player::begin_iteration(std::uint32_t iteration) {
  place_ = {place_.group, place_.section, iteration, 0};
}

Place Player::next_place() noexcept {
  journal_.set_group(place_.group);
  const Place place = place_;
  ++place_.index;
  return place;
}

void Player::run(const Case& one) {
  start(one);
  finish_all();
}

void Player::run_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) run(one);
}

void Player::start(const Case& one) {
  fault_point("user.before_call");
  in_flight_.push_back({next_place(), one, conformance::make_operation(group_, one)});
  in_flight_.back().operation->start();
}

void Player::finish_oldest() {
  const Pending& oldest = in_flight_.front();
  journal_.set_group(place_.group);
  const std::string what = to_string(oldest.one);
  try {
    const Contributors who = oldest.operation->wait();
    const std::string wrong = oldest.operation->finish(who);
    if (!wrong.empty()) {
      found_.add(to_string(oldest.place) + ", " + what + " over " + to_string(who) + ": " + wrong);
    }
    add(Entry::Kind::operation, oldest.place, job_ranks(who), 0, what);
  } catch (const PeerFailure& failure) {
    if (!survives_ || !has_root(oldest.one.kind) || failure.rank() != oldest.one.root) throw;
    add(Entry::Kind::root_lost, oldest.place, 0, checksum(failure.what()), failure.what());
  }
  in_flight_.pop_front();
  fault_point("user.after_call");
}

void Player::finish_all() {
  while (!in_flight_.empty()) finish_oldest();
}

void Player::census(std::size_t count, bool shadow) {
  fault_point("user.before_call");
  const Place place = next_place();
  const std::int64_t own = shadow ? 0 : std::int64_t{1} << world_rank();
  std::vector<std::int64_t> values(count, own);
  const Contributors who = group_.all_reduce(std::span(values));
  if (who.empty()) return;  // a shadow of what nobody does
  expect_census(place, who, values);
  add(shadow ? Entry::Kind::shadow : Entry::Kind::operation, place, job_ranks(who), 0, "census");
  fault_point("user.after_call");
}

void Player::shared_census(std::span<std::int64_t> values, std::span<const std::int64_t> result) {
  fault_point("user.before_call");
  const Place place = next_place();
  std::ranges::fill(values, std::int64_t{1} << world_rank());
  const Contributors who = group_.all_reduce_shared(values, result);
  expect_census(place, who, result);
  add(Entry::Kind::operation, place, job_ranks(who), 0, "shared census");
  fault_point("user.after_call");
}

void Player::expect_census(Place place, const Contributors& who,
                           std::span<const std::int64_t> sums) {
  const std::uint64_t ranks = job_ranks(who);
  for (const std::int64_t sum : sums) {
    if (static_cast<std::uint64_t>(sum) == ranks) continue;
    found_.add(to_string(place) + ": a census over " + to_string(who) + " gives " +
               std::to_string(sum));
    return;
  }
}

void Player::note_census(std::uint64_t ranks, std::string_view what, bool shadow) {
  add(shadow ? Entry::Kind::shadow : Entry::Kind::operation, next_place(), ranks, 0, what);
}

void Player::note_report(const JoinReport& report) {
  std::uint64_t died = 0;
  for (const JoinReport::Death& death : report.deaths) {
    const int rank = members_[static_cast<std::size_t>(death.rank)];
    if (rank >= 0) died |= std::uint64_t{1} << rank;
  }
  const std::string text = outline(report);
  add(Entry::Kind::report, next_place(), died, checksum(text), text);
}

void Player::note_termination() {
  add(Entry::Kind::termination, next_place(), 0, 0, "EarlyTermination");
}

void Player::note_state(std::uint64_t checksum, std::string_view what) {
  add(Entry::Kind::state, next_place(), 0, checksum, what);
}

Player Player::split(int color, int key) {
  fault_point("user.before_call");
  journal_.set_group(place_.group);
  ++split_count_;
  const std::uint32_t number =
      place_.group * 1000 + split_count_ * 10 + static_cast<std::uint32_t>(color) + 1;
  Player part(*this, group_.split(color, key), number);
  part.members_[static_cast<std::size_t>(part.rank())] = world_rank();
  journal_.set_group(number);
  part.learn_members();
  return part;
}

// Who the members are in the job. Who dies before it could say so never contributes.
void Player::learn_members() {
  const std::int32_t own = world_rank() + 1;
  std::vector<std::int32_t> all(static_cast<std::size_t>(size()));
  const Contributors who = group_.all_gather(std::span(&own, 1), std::span(all));
  who.for_each([&](int member) {
    const auto m = static_cast<std::size_t>(member);
    members_[m] = all[m] - 1;
  });
}

std::uint64_t Player::job_ranks(const Contributors& members) const {
  std::uint64_t ranks = 0;
  members.for_each(
      [&](int member) { ranks |= std::uint64_t{1} << members_[static_cast<std::size_t>(member)]; });
  return ranks;
}

void Player::add(Entry::Kind kind, Place place, std::uint64_t ranks, std::uint64_t value,
                 std::string_view what) {
  Entry entry;
  entry.kind = kind;
  entry.place = place;
  entry.ranks = ranks;
  entry.value = value;
  journal_.add(entry, what);
}

std::uint64_t checksum(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace tensorplay::faults
