// Jobs that run, looked at from outside: the guilty rank is found, and nobody notices.

#include "lib/inspect/job_finder.h"
#include "lib/inspect/job_view.h"
#include "lib/inspect/why.h"
#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>
#include <tensorplay/multiprocessing/spawn.h>

#include <boost/test/unit_test.hpp>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::inspect {
namespace {

using distributed::ProcessGroup;
using testing::ChildProcess;
using namespace std::chrono_literals;

// A job of four, started by a child of this process.
class Job {
 public:
  explicit Job(std::function<void(ProcessGroup&)> body)
      : child_([body = std::move(body)]() -> std::string {
          multiprocessing::spawn(4, body);
          return "";
        }) {}

  // As soon as `is_wanted` says so; after a generous time, whatever it is.
  JobView look_until(const std::function<bool(const JobView&)>& is_wanted) {
    JobView view;
    for (const auto end = std::chrono::steady_clock::now() + 30s;
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(10ms)) {
      if (auto seen = look()) {
        view = std::move(*seen);
        if (is_wanted(view)) break;
      }
    }
    return view;
  }

  std::string report() { return child_.report(); }

 private:
  std::optional<JobView> look() const {
    for (const FoundJob& job : find_jobs()) {
      if (std::ranges::find(job.pids, child_.pid()) == job.pids.end()) continue;
      try {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return view_of(shm::Segment::copy_of(job.path), now.tv_sec * 1'000'000'000L + now.tv_nsec);
      } catch (const SegmentError&) {
        return std::nullopt;  // it has ended, or is being made
      }
    }
    return std::nullopt;
  }

  ChildProcess child_;
};

void add_up(ProcessGroup& group) {
  std::vector<float> values(10, 1.0F);
  group.all_reduce(std::span(values));
}

bool three_wait_for_rank_2(const JobView& job) {
  const auto waits = [](const RankView& rank) { return rank.waits_for == std::vector<int>{2}; };
  return job.ranks.size() == 4 && std::ranges::count_if(job.ranks, waits) == 3;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(looked_at)

BOOST_AUTO_TEST_CASE(a_rank_hung_in_user_code_is_found) {
  Job job([](ProcessGroup& group) {
    for (int i = 0; i < 3; ++i) add_up(group);
    if (group.rank() == 2) std::this_thread::sleep_for(1h);
    add_up(group);
  });
  const JobView view = job.look_until([](const JobView& seen) {
    return three_wait_for_rank_2(seen) && seen.ranks[2].process == "sleeping";
  });
  const std::string text = why(view);
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(
        text.starts_with("Ranks 0, 1, 3 wait in all_reduce #4 (sum, float32, 10 elements), for "));
    BOOST_TEST(says(text, " s, for rank 2, which has been in user code for "));
    BOOST_TEST(text.ends_with(
        " s (sleeping); its last call was all_reduce #3 (sum, float32, 10 elements)."));
    BOOST_TEST(!is_stuck(view));
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_rank_is_found) {
  Job job([](ProcessGroup& group) {
    add_up(group);
    if (group.rank() == 2) raise(SIGSTOP);
    add_up(group);
  });
  const JobView view = job.look_until([](const JobView& seen) {
    return three_wait_for_rank_2(seen) && seen.ranks[2].state == RankState::stopped;
  });
  const std::string text = why(view);
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(
        says(text, "for rank 2, which is stopped by a signal; its last call was all_reduce #1"));
    BOOST_TEST(is_stuck(view));
  }
}

// The rank looks like any other that is late, but for what its process does.
BOOST_AUTO_TEST_CASE(a_rank_that_calculates_is_told_as_running) {
  Job job([](ProcessGroup& group) {
    add_up(group);
    const auto end = std::chrono::steady_clock::now() + 1h;
    while (group.rank() == 2 && std::chrono::steady_clock::now() < end) {
    }
    add_up(group);
  });
  const JobView view = job.look_until([](const JobView& seen) {
    return three_wait_for_rank_2(seen) && seen.ranks[2].process == "running";
  });
  BOOST_TEST_CONTEXT(why(view)) BOOST_TEST(says(why(view), " s (running); its last call was"));
}

BOOST_AUTO_TEST_CASE(joined_ranks_are_told_with_the_one_that_goes_on) {
  Job job([](ProcessGroup& group) {
    struct Reducer : distributed::algorithms::Joinable {
      explicit Reducer(const ProcessGroup& group_) : group(group_) {}
      std::unique_ptr<distributed::algorithms::JoinHook> join_hook(
          const distributed::algorithms::JoinKwargs&) override {
        return std::make_unique<distributed::algorithms::JoinHook>();
      }
      ProcessGroup& join_process_group() override { return group; }
      ProcessGroup group;
    } reducer(group);
    distributed::algorithms::Join join({reducer});
    for (int i = 0; i < 5; ++i) {
      distributed::algorithms::Join::notify_join_context(reducer);
      add_up(reducer.group);
    }
    if (group.rank() == 2) std::this_thread::sleep_for(1h);
  });
  const JobView view = job.look_until([](const JobView& seen) {
    const auto joined = [](const RankView& rank) { return rank.state == RankState::joined; };
    return std::ranges::count_if(seen.ranks, joined) == 3;
  });
  BOOST_TEST_CONTEXT(why(view)) {
    BOOST_TEST(why(view).starts_with(
        "Ranks 0, 1, 3 have joined and wait for the others to run out of inputs. Nobody waits: "
        "rank 2 is in user code."));
    BOOST_REQUIRE(view.ranks.size() == 4u);
    BOOST_TEST(view.ranks[0].joined);
    BOOST_TEST(view.ranks[0].iterations == 5u);
    BOOST_TEST((view.ranks[0].waits_for == std::vector<int>{2}));
    BOOST_TEST(!view.ranks[2].joined);
  }
}

// Looked at a hundred times a second, a job does the same as ever.
BOOST_AUTO_TEST_CASE(a_job_that_is_looked_at_does_not_notice) {
  Job job([](ProcessGroup& group) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 20'000; ++i) {
      std::int64_t one = i;
      group.all_reduce(std::span(&one, 1));
      sum += one;
    }
    if (sum != 4 * 19'999LL * 10'000LL) throw std::runtime_error("a wrong sum");
  });
  std::uint64_t last = 0;
  job.look_until([&](const JobView& seen) {
    for (const RankView& rank : seen.ranks) {
      if (rank.last) last = std::max(last, rank.last->number);
    }
    return std::ranges::any_of(seen.ranks,
                               [](const RankView& rank) { return rank.state == RankState::ended; });
  });
  BOOST_TEST(job.report() == "");
  BOOST_TEST(last <= 20'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::inspect
