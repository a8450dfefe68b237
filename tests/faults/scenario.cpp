#include "tests/faults/scenario.h"

#include "tests/conformance/plan.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tensorplay::faults {
namespace {

using conformance::Case;
using conformance::CollectiveKind;
using conformance::Memory;

// Blocks of so many bytes, each kind of collective once; types, reductions and roots take turns.
std::vector<Case> every_kind(const Player& player, std::size_t bytes, Memory memory) {
  std::vector<Case> cases = conformance::kinds_by_counts(player.size(), {1});
  for (Case& one : cases) {
    one.memory = memory;
    one.shift = 0;
    one.count = bytes / element_bytes(one.dtype);
  }
  return cases;
}

void play_inline(Player& player) {
  player.run_all(every_kind(player, 8, Memory::own));
  player.run_all(every_kind(player, 16, Memory::own));
}

void play_posts(Player& player) {
  player.run_all(every_kind(player, 1000, Memory::own));
}

void play_staged(Player& player) {
  player.run_all(every_kind(player, 150'000, Memory::own));
}

void play_direct(Player& player) {
  player.run_all(every_kind(player, 150'000, Memory::shared));
}

// Results that all ranks read, of a line, of some, and in several pieces; twice from new memory.
void play_shared(Player& player) {
  constexpr std::size_t kCounts[] = {3, 600, 60'000};
  const std::span<std::int64_t> values = player.group().allocate<std::int64_t>(60'000);
  for (int i = 0; i < 2; ++i) {
    const auto result = player.group().allocate_shared<std::int64_t>(60'000);
    for (const std::size_t count : kCounts) {
      for (int again = 0; again < 2; ++again) {
        player.shared_census(values.first(count), result.first(count));
      }
    }
    player.group().deallocate_shared(result);
  }
}

// More than may be in flight at once, small and large ones in turn.
void play_async(Player& player) {
  const std::vector<Case> small = every_kind(player, 24, Memory::own);
  const std::vector<Case> large = every_kind(player, 40'000, Memory::own);
  for (std::size_t i = 0; i < small.size(); ++i) {
    player.start(i % 2 == 0 ? small[i] : large[i]);
    player.start(i % 3 == 0 ? large[i] : small[i]);
  }
  player.finish_all();
}

// Two parts, each of which uses its own group and that of all ranks, at the same time.
void play_split(Player& player) {
  Player part = player.split(player.rank() % 2, -player.rank());
  player.start({.kind = CollectiveKind::all_reduce, .dtype = DType::int32, .count = 3});
  part.run_all(every_kind(part, 16, Memory::own));
  player.finish_all();
  part.run_all(every_kind(part, 40'000, Memory::own));
}

// Parts that come and go, one of them of a single rank.
void play_splits(Player& player) {
  for (int i = 0; i < 3; ++i) {
    Player part = player.split(player.rank() < i ? 1 : 0, player.rank());
    part.census(2);
    player.census(2);
    if (i == 1) part.split(0, part.rank()).census(3);
  }
}

}  // namespace

void play_finale(Player& player) {
  player.begin_section();
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1000}, std::size_t{100'000}}) {
    player.census(bytes / 8);
  }
  player.run({.kind = CollectiveKind::barrier});
}

const std::vector<Scenario>& all_scenarios() {
  static const std::vector<Scenario> scenarios = [] {
    std::vector<Scenario> all = {
        {"inline", play_inline}, {"posts", play_posts},   {"staged", play_staged},
        {"direct", play_direct}, {"shared", play_shared}, {"async", play_async},
        {"split", play_split},   {"splits", play_splits},
    };
    for (Scenario& one : join_scenarios()) all.push_back(std::move(one));
    return all;
  }();
  return scenarios;
}

}  // namespace tensorplay::faults
