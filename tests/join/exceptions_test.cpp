// An exception that leaves a context on one rank reaches the others, wherever they are.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::WorldResult;

constexpr int kForever = 100'000'000;

// Rank `failed` threw `text`; the others had a PeerFailure that names it, all the same.
void expect_peer_failure(const WorldResult& result, std::size_t failed, const std::string& text) {
  BOOST_TEST(result.ranks[failed].findings == "runtime_error: " + text);
  const std::size_t other = failed == 0 ? 1 : 0;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (rank == failed) continue;
    const std::string& findings = result.ranks[rank].findings;
    BOOST_TEST_CONTEXT("rank " << rank << ": " << findings) {
      BOOST_TEST(findings.starts_with("PeerFailure: "));
      BOOST_TEST(findings.find("rank " + std::to_string(failed)) != std::string::npos);
      BOOST_TEST(findings == result.ranks[other].findings);
    }
  }
}

BOOST_AUTO_TEST_SUITE(exceptions)

TP_WORLD_TEST(the_text_of_an_exception_reaches_active_and_joined_ranks) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    with_join({counter}, {}, [&] {
      for (int i = 0; i < (group.rank() == 3 ? 2 : kForever); ++i) {
        if (group.rank() == 1 && i == 20) throw std::runtime_error("the disk is full");
        counter.count();
      }
    });
    return "nothing was thrown";
  });
  expect_peer_failure(result, 1, "the disk is full");
  BOOST_TEST(result.ranks[0].findings.find("the disk is full") != std::string::npos);
}

TP_WORLD_TEST(an_exception_through_a_scope_reaches_the_others) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < kForever; ++i) {
      if (group.rank() == 0 && i == 5) throw std::runtime_error("bad batch");
      counter.count();
    }
    return "nothing was thrown";
  });
  expect_peer_failure(result, 0, "bad batch");
}

TP_WORLD_TEST(in_step_ranks_are_reached_too) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Mirror mirror(group, 5'000);
    with_join({mirror}, {}, [&] {
      for (int i = 0; i < (group.rank() == 0 ? 1 : kForever); ++i) {
        if (group.rank() == 2 && i == 7) throw std::runtime_error("bad batch");
        mirror.use();
      }
    });
    return "nothing was thrown";
  });
  expect_peer_failure(result, 2, "bad batch");
}

TP_WORLD_TEST(a_sleeping_rank_is_reached_while_nobody_makes_a_collective) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    with_join({counter}, {}, [&] {
      if (group.rank() == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      throw std::runtime_error("late");
    });
    return "nothing was thrown";
  });
  expect_peer_failure(result, 1, "late");
}

TP_WORLD_TEST(a_waiting_notification_is_reached) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    with_join({counter}, {.throw_on_early_termination = true}, [&] {
      for (int i = 0; i < kForever; ++i) {
        if (group.rank() == 1 && i == 3) throw std::runtime_error("bad batch");
        counter.count();
      }
    });
    return "nothing was thrown";
  });
  expect_peer_failure(result, 1, "bad batch");
}

TP_WORLD_TEST(the_error_tells_rank_and_cause) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    try {
      with_join({counter}, {}, [&] {
        if (group.rank() == 1) throw std::runtime_error("bad batch");
        counter.count();
      });
      found.add("nothing was thrown");
    } catch (const PeerFailure& failure) {
      found.equal(failure.rank(), 1, "the rank");
      found.expect(failure.cause() == PeerFailure::Cause::raised, "the cause is `raised`");
    } catch (const std::runtime_error& error) {
      found.equal(std::string(error.what()), "bad batch", "the text");
      found.equal(group.rank(), 1, "the rank that threw");
    }
    found.expect(!counter.in_join_context(), "outside afterwards");
    found.throws<Error>([&] { group.barrier(); }, "a barrier of the broken group");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(an_exception_in_one_part_leaves_the_other_part_alone) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) -> std::string {
    ProcessGroup pair = group.split(group.rank() / 2, 0);
    Counter counter(pair);
    with_join({counter}, {}, [&] {
      for (int i = 0; i < 1'000; ++i) {
        if (group.rank() == 0 && i == 5) throw std::runtime_error("bad batch");
        counter.count();
      }
    });
    return std::to_string(counter.total);
  });
  BOOST_TEST(result.ranks[0].findings == "runtime_error: bad batch");
  BOOST_TEST(result.ranks[1].findings.starts_with("PeerFailure: "));
  BOOST_TEST(result.ranks[2].findings == "2000");
  BOOST_TEST(result.ranks[3].findings == "2000");
}

TP_WORLD_TEST(a_rank_that_ends_without_joining_is_told) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    if (group.rank() == 1) return "went home";
    with_join({counter}, {}, [&] { counter.count(); });
    return "nothing was thrown";
  });
  BOOST_TEST(result.ranks[1].findings == "went home");
  BOOST_TEST(result.ranks[0].findings.starts_with("PeerFailure: "));
  BOOST_TEST(result.ranks[0].findings.find("rank 1") != std::string::npos);
}

#ifndef TENSORPLAY_THREAD_WORLDS

// Rank 1 of three is killed in its tenth iteration; rank 0 has joined by then.
template <typename Model>
void check_killed() {
  const auto result =
      run_world(worlds::World::forked_processes, 3, [](ProcessGroup& group) -> std::string {
        Model model(group);
        with_join({model}, {}, [&] {
          for (int i = 0; i < (group.rank() == 0 ? 1 : kForever); ++i) {
            if (group.rank() == 1 && i == 10) std::raise(SIGKILL);
            model.use();
          }
        });
        return "nothing was thrown";
      });
  BOOST_TEST(result.ranks[1].signal == SIGKILL);
  for (std::size_t rank : {0u, 2u}) {
    const std::string& text = result.ranks[rank].findings;
    BOOST_TEST_CONTEXT("rank " << rank << ": " << text) {
      BOOST_TEST(text.starts_with("PeerFailure: "));
      BOOST_TEST(text.find("rank 1") != std::string::npos);
    }
  }
}

class Sleeper : public Counter {
 public:
  using Counter::Counter;
  void use() { count(); }
};

BOOST_AUTO_TEST_CASE(a_killed_rank_is_told_to_active_and_sleeping_ranks) {
  check_killed<Sleeper>();
}

BOOST_AUTO_TEST_CASE(a_killed_rank_is_told_to_ranks_in_step) {
  check_killed<AllReducer>();
}

BOOST_AUTO_TEST_CASE(a_killed_joined_rank_is_told_to_the_others) {
  const auto result =
      run_world(worlds::World::forked_processes, 2, [](ProcessGroup& group) -> std::string {
        Counter counter(group);
        if (group.rank() == 0) {
          std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            std::raise(SIGKILL);
          }).detach();
        }
        with_join({counter}, {}, [&] {
          for (int i = 0; i < (group.rank() == 0 ? 0 : 10); ++i) {
            counter.count();
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
        });
        group.barrier();
        return "nothing was thrown";
      });
  BOOST_TEST(result.ranks[0].signal == SIGKILL);
  BOOST_TEST(result.ranks[1].findings.starts_with("PeerFailure: "));
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
