// The time-out of a joined rank counts from the last sign of progress of those it waits for.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using namespace std::chrono_literals;
using worlds::run_world;
using worlds::WorldOptions;

const WorldOptions kImpatient{.timeout = 1500ms};

class Sleeper : public Counter {
 public:
  using Counter::Counter;
  void use() { count(); }
};

// Rank 1 takes three times the time-out in small steps, while rank 0 has joined.
template <typename Model>
std::string train_slowly(ProcessGroup& group) {
  Model model(group);
  with_join({model}, {}, [&] {
    for (int i = 0; i < (group.rank() == 0 ? 0 : 15); ++i) {
      std::this_thread::sleep_for(300ms);
      model.use();
    }
  });
  return "";
}

// Rank 1 doesn't come back to its loop in time.
template <typename Model>
std::string stay_away(ProcessGroup& group) {
  Model model(group);
  with_join({model}, {}, [&] {
    if (group.rank() == 0) return;
    model.use();
    std::this_thread::sleep_for(4s);
    model.use();
  });
  return "nothing was thrown";
}

BOOST_AUTO_TEST_SUITE(timeout)

TP_WORLD_TEST(slow_progress_is_no_time_out) {
  BOOST_TEST(run_world(world, 2, train_slowly<Sleeper>, kImpatient).findings() == "");
  BOOST_TEST(run_world(world, 2, train_slowly<AllReducer>, kImpatient).findings() == "");
}

TP_WORLD_TEST(no_progress_is_a_time_out_that_names_the_rank) {
  for (const auto& result : {run_world(world, 2, stay_away<Sleeper>, kImpatient),
                             run_world(world, 2, stay_away<AllReducer>, kImpatient)}) {
    for (const auto& outcome : result.ranks) {
      BOOST_TEST_CONTEXT(outcome.findings) {
        BOOST_TEST(outcome.findings.starts_with("Timeout: "));
        BOOST_TEST(outcome.findings.find("rank 1") != std::string::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
