// Memory set aside where the ranks are to survive each other.

#include "lib/distributed/vault_reservation.h"
#include "tests/worlds/findings.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tensorplay::distributed {
namespace {

using worlds::Findings;
using worlds::run_world;

constexpr worlds::WorldOptions kTightVaults{.arena_bytes = std::size_t{1} << 20,
                                            .on_peer_failure = PeerFailurePolicy::continue_without};

// 60'000 elements: in a vault that takes 720 KB.
constexpr CollectiveCall kReserved{
    .kind = CollectiveKind::all_reduce, .dtype = DType::int64, .count = 60'000};

BOOST_AUTO_TEST_SUITE(vault_reservation)

TP_WORLD_TEST(memory_reserved_for_operations_is_given_away_only_after_the_reservation) {
  const auto body = [](ProcessGroup& group) {
    Findings found;
    const auto allocate = [&] { group.deallocate(group.allocate<std::uint8_t>(512 * 1024)); };
    {
      const VaultReservation reservation(group, {kReserved}, "the test");
      found.throws<SegmentError>(allocate, "allocating what is reserved");
      std::vector<std::int64_t> buffer(kReserved.count, 1);
      group.all_reduce(std::span(buffer));
      found.equal(buffer.back(), 3, "the sum");
      found.throws<SegmentError>(allocate, "allocating what is reserved and used");
    }
    group.barrier();
    allocate();
    return found.text();
  };
  BOOST_TEST(run_world(world, 3, body, kTightVaults).findings() == "");
}

TP_WORLD_TEST(a_reservation_that_one_rank_can_t_make_is_refused_on_all_and_holds_nothing) {
  const auto body = [](ProcessGroup& group) {
    Findings found;
    const auto taken = group.allocate<std::uint8_t>(group.rank() == 1 ? 512 * 1024 : 0);
    const std::string text = found.throws<SegmentError>(
        [&] { VaultReservation(group, {kReserved}, "the test"); }, "reserving");
    found.contains(text, "the test: ", "the text");
    found.contains(text, "Rank 1: ", "the text");
    found.contains(text, "raise arena_bytes", "the text");
    group.deallocate(taken);
    group.deallocate(group.allocate<std::uint8_t>(900 * 1024));
    const VaultReservation reservation(group, {kReserved}, "the test");
    return found.text();
  };
  BOOST_TEST(run_world(world, 3, body, kTightVaults).findings() == "");
}

TP_WORLD_TEST(where_a_death_ends_the_group_nothing_is_reserved) {
  const auto body = [](ProcessGroup& group) {
    const VaultReservation reservation(group, {kReserved}, "the test");
    group.deallocate(group.allocate<std::uint8_t>(1024 * 1024));
    return std::string();
  };
  BOOST_TEST(run_world(world, 2, body, {.arena_bytes = 1024 * 1024}).findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
