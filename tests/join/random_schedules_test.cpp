// Random inputs, random ranks, random collectives in the loop: always the active ranks' result.

#include "tests/conformance/operation.h"
#include "tests/conformance/oracle.h"
#include "tests/conformance/plan.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using conformance::any_case;
using conformance::Case;
using conformance::mix;
using distributed::PeerFailurePolicy;
using worlds::Findings;
using worlds::kSanitized;
using worlds::run_world;
using worlds::seed_of_test;
using worlds::World;

// What all ranks draw alike.
struct Schedule {
  std::uint64_t seed = 0;
  std::vector<int> inputs;  // by rank, 0 ... 20
  bool in_step = false;     // with Mirrors, whose hooks follow
  int joinable_count = 1;
  std::size_t bytes_max = 0;
};

Schedule draw(std::uint64_t seed, int world_size) {
  Schedule schedule;
  schedule.seed = seed;
  std::uint64_t random = seed;
  const auto below = [&](std::uint64_t bound) {
    random = mix(random);
    return random % bound;
  };
  for (int rank = 0; rank < world_size; ++rank) {
    schedule.inputs.push_back(static_cast<int>(below(4) == 0 ? 0 : below(21)));
  }
  schedule.in_step = below(2) == 0;
  schedule.joinable_count = static_cast<int>(1 + below(3));
  schedule.bytes_max = below(5) == 0 ? 100'000 : 2'000;
  return schedule;
}

// One rank's way through one context.
class Traveller {
 public:
  Traveller(ProcessGroup& group, const Schedule& schedule)
      : group_(group),
        schedule_(schedule),
        own_random_(mix(schedule.seed ^ mix(static_cast<std::uint64_t>(group.rank())))) {
    for (int i = 0; i < schedule.joinable_count; ++i) {
      mirrors_.push_back(std::make_unique<Mirror>(group, static_cast<std::size_t>(3 + 200 * i)));
      counters_.push_back(std::make_unique<Counter>(group));
    }
  }

  std::string travel() {
    std::vector<JoinableReference> list;
    for (auto& mirror : mirrors_) {
      if (schedule_.in_step) list.push_back(*mirror);
    }
    for (auto& counter : counters_) list.push_back(*counter);
    const JoinReport report = with_join(list, {}, [&] {
      for (int i = 0; i < own(schedule_.inputs, group_) && found_.empty(); ++i) iterate(i);
    });
    if (!found_.empty()) return found_.text();
    check_end(report);
    return found_.text();
  }

 private:
  // All active ranks make the same calls in iteration i; each is late in its own way.
  void iterate(int i) {
    const Contributors active = active_at(schedule_.inputs, i);
    std::uint64_t random = mix(schedule_.seed + static_cast<std::uint64_t>(i) * 1000);
    const std::uint64_t call_count = random % 4;
    be_late();
    if (schedule_.in_step) {
      for (auto& mirror : mirrors_) mirror->use();
    }
    for (std::uint64_t call = 0; call < call_count; ++call) {
      if (random % 3 == 0 && call < counters_.size()) use_counter(*counters_[call], active);
      make_stray(any_case(group_.size(), random, schedule_.bytes_max), active);
    }
  }

  void be_late() {
    own_random_ = mix(own_random_);
    if (own_random_ % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(own_random_ % 500));
    }
  }

  void use_counter(Counter& counter, const Contributors& active) {
    found_.equal(to_string(counter.count()), to_string(active), "the counter's contributors");
    found_.equal(counter.last, active.count(), "the counter's sum");
  }

  void make_stray(Case one, const Contributors& active) {
    if (!active.contains(one.root)) one.root = active.highest();
    const auto operation = conformance::make_operation(group_, one);
    operation->start();
    found_.equal(operation->finish(active), "", to_string(one));
  }

  void check_end(const JoinReport& report) {
    const int most = *std::max_element(schedule_.inputs.begin(), schedule_.inputs.end());
    if (schedule_.in_step) {
      const std::vector<double> whole = history_of(schedule_.inputs);
      for (auto& mirror : mirrors_) {
        found_.expect(mirror->history == whole, "the history is whole");
        found_.expect(!mirror->torn, "buffers are filled wholly or not at all");
      }
      found_.expect(most == 0 || report.last_joiners == active_at(schedule_.inputs, most - 1),
                    "the last joiners are those with the most inputs");
    }
    found_.equal(group_.barrier().count(), group_.size(), "contributors afterwards");
  }

  ProcessGroup& group_;
  const Schedule& schedule_;
  std::uint64_t own_random_;
  Findings found_;
  std::vector<std::unique_ptr<Mirror>> mirrors_;
  std::vector<std::unique_ptr<Counter>> counters_;
};

// Many contexts, one after the other, in one job.
void check(World world, int world_size, std::uint64_t seed, int contexts) {
  const auto body = [=](ProcessGroup& group) {
    for (int i = 0; i < contexts; ++i) {
      const Schedule schedule = draw(seed + static_cast<std::uint64_t>(i) * 7919, world_size);
      const std::string wrong = Traveller(group, schedule).travel();
      if (!wrong.empty()) return "context " + std::to_string(i) + ": " + wrong;
    }
    return std::string();
  };
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    worlds::WorldOptions options;
    options.on_peer_failure = policy;
    const auto result = run_world(world, world_size, body, options);
    BOOST_TEST_CONTEXT("seed " << seed << ", world size " << world_size
                               << ", on_peer_failure = " << name(policy)) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE(random_schedules)

TP_WORLD_TEST(whatever_the_inputs_and_collectives_the_active_ranks_make_the_result) {
  const std::uint64_t seed = seed_of_test("schedules");
  for (int size : {2, 3, 4, 5}) check(world, size, seed, kSanitized ? 12 : 60);
}

TP_WORLD_TEST(many_ranks_with_random_inputs_come_to_an_end) {
  const std::uint64_t seed = seed_of_test("many ranks");
  check(world, 12, seed, kSanitized ? 2 : 8);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
