// Large results that are written past the caches: the same bits as through them.

#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <initializer_list>

namespace tensorplay::conformance {
namespace {

using distributed::PeerFailurePolicy;
using distributed::StreamingStores;
using worlds::run_world;
using worlds::World;

// From buffer to buffer, through the staging buffers, and from vaults.
void check(World world, int world_size, const std::vector<Case>& cases,
           std::initializer_list<StreamingStores> choices) {
  for (const StreamingStores choice : choices) {
    for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
      worlds::WorldOptions options;
      options.on_peer_failure = policy;
      options.streaming_stores = choice;
      const auto result = run_world(
          world, world_size, [&](ProcessGroup& group) { return run_cases(group, cases); }, options);
      BOOST_TEST_CONTEXT("world size " << world_size << ", on_peer_failure = " << name(policy)
                                       << ", streaming stores: " << name(choice)) {
        BOOST_TEST(result.findings() == "");
      }
    }
  }
}

// Every kind with its buffers in every kind of memory, at and beside the beginnings of lines.
std::vector<Case> everywhere(std::size_t count) {
  std::vector<Case> cases;
  for (const CollectiveKind kind : all_kinds()) {
    for (const Memory memory : {Memory::own, Memory::shared, Memory::some_shared}) {
      for (const std::size_t shift : {0, 1}) {
        cases.push_back({.kind = kind,
                         .count = count,
                         .in_place = shift == 1,
                         .memory = memory,
                         .shift = shift,
                         .salt = cases.size()});
      }
    }
  }
  return cases;
}

BOOST_AUTO_TEST_SUITE(streaming)

TP_WORLD_TEST(results_of_all_kinds_in_all_memory_have_the_same_bits) {
  for (const int size : {2, 3}) {
    check(world, size, everywhere(65'536 + 5), {StreamingStores::always, StreamingStores::never});
  }
}

TP_WORLD_TEST(results_of_several_mebibytes_have_the_same_bits) {
  check(world, 3, large_blocks(3), {StreamingStores::always});
}

TP_WORLD_TEST(results_are_the_same_bits_whatever_is_measured_meanwhile) {
  check(world, 3, kinds_by_counts(3, {40'000, 300'001}), {StreamingStores::automatic});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
