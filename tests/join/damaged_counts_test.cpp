// Counts of iterations that can't be right: whoever is in step is told, instead of repeating them
// for days.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include "lib/distributed/group_engine.h"
#include "lib/sync/join_board.h"

#include <memory>
#include <string>
#include <utility>

namespace tensorplay::join_tests {
namespace {

using worlds::run_world;
using worlds::World;

// Announces only, and so do its hooks: nothing to wait for.
class Announcer : public Joinable {
 public:
  explicit Announcer(ProcessGroup group) : group_(std::move(group)) {}

  void use() { Join::notify_join_context(*this); }
  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<MainHook>([] {}, [](bool) {});
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Announcer"; }

 private:
  ProcessGroup group_;
};

// Rank 1 damages its memory by `damage` and has no more to say until the group fails. What rank 0,
// in step with it, is told.
template <class Damage>
std::string told_of(World world, Damage damage) {
  const auto result = run_world(world, 2, [&](ProcessGroup& group) -> std::string {
    Announcer announcer(group);
    with_join({announcer}, {}, [&] {
      group.barrier();
      if (group.rank() == 0) return;
      announcer.use();
      damage(group);
      group.barrier();
    });
    return "nothing was thrown";
  });
  return result.ranks[0].findings;
}

BOOST_AUTO_TEST_SUITE(damaged_counts)

TP_WORLD_TEST(more_iterations_than_there_was_time_for_are_damage) {
  const std::string text = told_of(world, [](ProcessGroup& group) {
    sync::publish_iteration(sync::board_of(group.engine().memory().own(), 1), 1, 1ULL << 39);
  });
  BOOST_TEST(text.starts_with("SegmentError: "), text);
  BOOST_TEST(text.find("rank 1") != std::string::npos, text);
  BOOST_TEST(text.find("announces iteration 549755813888, ") != std::string::npos, text);
  BOOST_TEST(text.ends_with("the segment is damaged"), text);
}

TP_WORLD_TEST(an_operation_of_an_iteration_that_nobody_has_announced_is_damage) {
  const std::string text = told_of(
      world, [](ProcessGroup& group) { group.engine().membership().iteration = 1'000'000; });
  BOOST_TEST(text ==
             "SegmentError: rank 1 posted operation 2 in an iteration that it hasn't "
             "announced: the segment is damaged");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
