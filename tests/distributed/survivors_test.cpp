// What the others are told, and may do, after a rank has died in a job that goes on without it.

#include "tests/worlds/findings.h"
#include "tests/worlds/worlds.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace tensorplay::distributed {
namespace {

using algorithms::Join;
using algorithms::Joinable;
using algorithms::JoinHook;
using algorithms::JoinKwargs;
using worlds::Findings;

class Counted final : public Joinable {
 public:
  explicit Counted(const ProcessGroup& group) : group_(group) {}
  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<JoinHook>();
  }
  ProcessGroup& join_process_group() override { return group_; }

  // One input: the sum of ones over the ranks that are active.
  std::int64_t step() {
    Join::notify_join_context(*this);
    std::int64_t ones = 1;
    group_.all_reduce(std::span(&ones, 1));
    return ones;
  }

 private:
  ProcessGroup group_;
};

// What the ranks found wrong that weren't meant to die.
std::string run(int world_size, int victim, const worlds::RankBody& body) {
  worlds::WorldOptions options;
  options.on_peer_failure = PeerFailurePolicy::continue_without;
  auto result = worlds::run_world(worlds::World::forked_processes, world_size, body, options);
  const auto& outcome = result.ranks[static_cast<std::size_t>(victim)];
  if (outcome.signal != SIGKILL) return "the victim has lived: " + outcome.findings;
  result.ranks.erase(result.ranks.begin() + victim);
  return result.findings();
}

BOOST_AUTO_TEST_SUITE(survivors)

BOOST_AUTO_TEST_CASE(a_death_is_in_the_report_of_the_context_and_the_next_context_works) {
  BOOST_TEST(run(3, 1, [](ProcessGroup& group) {
               Findings found;
               Counted counted(group);
               for (int context = 0; context < 2; ++context) {
                 Join join({counted});
                 for (int input = 0; input < 4; ++input) {
                   if (group.rank() == 1 && input == 2) raise(SIGKILL);
                   const bool alone = context == 1 || input >= 2;
                   found.equal(counted.step(), alone ? 2 : 3, "the active ranks");
                 }
                 const auto report = join.finish();
                 found.equal(report.deaths.size(), 1U, "the deaths");
                 if (report.deaths.empty()) continue;
                 const auto& death = report.deaths.front();
                 found.equal(death.rank, 1, "who died");
                 found.equal(death.iteration, context == 0 ? 2 : -1, "its iteration");
                 found.contains(death.how, "signal 9", "how");
                 found.equal(report.authoritative_rank, 2, "the authoritative rank");
               }
               return found.text();
             }) == "");
}

BOOST_AUTO_TEST_CASE(a_death_is_no_end_of_inputs) {
  BOOST_TEST(run(3, 1, [](ProcessGroup& group) {
               Findings found;
               Counted counted(group);
               Join join({counted}, {.throw_on_early_termination = true});
               for (int input = 0; input < 4; ++input) {
                 if (group.rank() == 1 && input == 2) raise(SIGKILL);
                 counted.step();
               }
               found.equal(join.finish().deaths.size(), 1U, "the deaths");
               return found.text();
             }) == "");
}

BOOST_AUTO_TEST_CASE(a_root_that_died_is_told_with_its_end_and_the_group_goes_on) {
  BOOST_TEST(run(3, 1, [](ProcessGroup& group) {
               Findings found;
               if (group.rank() == 1) raise(SIGKILL);
               std::int32_t value = group.rank();
               try {
                 group.broadcast(std::span(&value, 1), 1);
                 found.add("a broadcast from a dead rank has ended");
               } catch (const PeerFailure& failure) {
                 found.equal(failure.rank(), 1, "the rank");
                 found.expect(failure.pid() > 0, "its pid is told");
                 found.expect(failure.signal() == SIGKILL, "its signal is told");
                 found.contains(failure.what(), "still there: ranks 0, 2", "the text");
               }
               group.broadcast(std::span(&value, 1), 2);
               found.equal(value, 2, "what another root sends");
               return found.text();
             }) == "");
}

// Rank 2 isn't needed for the end of the context that rank 0 waits for.
BOOST_AUTO_TEST_CASE(who_has_left_a_context_by_an_exception_waits_for_a_joined_rank_elsewhere) {
  BOOST_TEST(run(3, 1, [](ProcessGroup& group) {
               Findings found;
               ProcessGroup pair = group.split(group.rank() == 1 ? 1 : 0, 0);
               try {
                 Counted counted(group);
                 Join join({counted});
                 counted.step();
                 if (group.rank() == 1) raise(SIGKILL);
                 if (group.rank() == 2) throw std::runtime_error("no more");
                 found.equal(join.finish().deaths.size(), 2U, "the deaths");
               } catch (const std::runtime_error& error) {
                 found.expect(group.rank() == 2, error.what());
               }
               found.equal(pair.barrier().count(), 2, "the ranks of the pair");
               return found.text();
             }) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
