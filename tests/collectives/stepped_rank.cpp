#include "tests/collectives/stepped_rank.h"

#include "lib/distributed/group_engine.h"
#include "lib/sync/arrival.h"

#include <tensorplay/error.h>

#include <algorithm>

namespace tensorplay::conformance {
namespace {

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

}  // namespace

std::uint64_t last_posted(const shm::MemberBlock& member) {
  std::uint64_t last = 0;
  for (const shm::ArrivalLine& line : member.arrivals) {
    last = std::max(last, sync::posted_number(line));
  }
  return last;
}

SteppedRank::SteppedRank(ProcessGroup group, const std::vector<Case>& cases,
                         ContributorsOf contributors_of)
    : group_(std::move(group)), cases_(cases), contributors_of_(std::move(contributors_of)) {}

void SteppedRank::start() {
  under_way_.push_back({started_, make_operation(group_, cases_[started_])});
  ++started_;
  under_way_.back().operation->start();
}

std::string SteppedRank::look_at_one(Draws& draws) {
  if (under_way_.empty()) return "";
  const std::size_t chosen = draws.below(under_way_.size());
  if (!under_way_[chosen].operation->is_completed()) return "";
  Started ended = std::move(under_way_[chosen]);
  under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(chosen));
  const std::size_t index = ended.index;
  const std::string wrong = check(std::move(ended));
  if (wrong.empty()) return "";
  return "operation " + std::to_string(index + 1) + ", " + to_string(cases_[index]) + ", on rank " +
         std::to_string(group_.rank()) + ": " + wrong;
}

std::string SteppedRank::check(Started ended) const {
  const Case& one = cases_[ended.index];
  const Contributors expected = contributors_of_(ended.index + 1);
  const bool root_is_gone = has_root(one.kind) && !expected.contains(one.root);
  try {
    const std::string wrong = ended.operation->finish(expected);
    return root_is_gone ? "ended without its root" : wrong;
  } catch (const PeerFailure& failure) {
    if (!root_is_gone) throw;
    return failure.rank() == one.root ? "" : failure.what();
  }
}

std::uint64_t SteppedRank::last_posted() const {
  return conformance::last_posted(group_.engine().memory().own());
}

}  // namespace tensorplay::conformance
