// The paragraph about a job, word by word.

#include "lib/inspect/why.h"
#include "lib/inspect/job_view.h"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::inspect {
namespace {

using namespace std::chrono_literals;

CallView reduction(std::uint64_t number) {
  return {number, 0, "all_reduce (sum, float32, 65536 elements)"};
}

RankView rank_in(RankState state, std::chrono::nanoseconds duration) {
  RankView rank;
  rank.state = state;
  rank.duration = duration;
  rank.last = reduction(4181);
  rank.process = "sleeping";
  return rank;
}

RankView waiting_for(std::vector<int> awaited) {
  RankView rank = rank_in(RankState::waiting, 41s);
  rank.waits_in = reduction(4182);
  rank.last = reduction(4182);
  rank.waits_for = std::move(awaited);
  return rank;
}

RankView ended(const char* how) {
  RankView rank = rank_in(RankState::ended, 0s);
  rank.duration.reset();
  rank.end = how;
  return rank;
}

JobView job_of(std::vector<RankView> ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].rank = static_cast<int>(rank);
  return {std::move(ranks), {}};
}

// Ranks 0, 1 and 3 wait for rank 2, which is `guilty`.
JobView waiting_for_rank_2(RankView guilty) {
  return job_of({waiting_for({2}), waiting_for({2}), std::move(guilty), waiting_for({2})});
}

constexpr const char* kOthers =
    "Ranks 0, 1, 3 wait in all_reduce #4182 (sum, float32, 65536 elements), for 41.0 s, for rank "
    "2, which ";
constexpr const char* kLast =
    "; its last call was all_reduce #4181 (sum, float32, 65536 elements).";

BOOST_AUTO_TEST_SUITE(why_text)

BOOST_AUTO_TEST_CASE(a_rank_in_user_code_is_told_with_its_last_call) {
  const JobView job = waiting_for_rank_2(rank_in(RankState::computing, 41200ms));
  BOOST_TEST(why(job) ==
             std::string(kOthers) + "has been in user code for 41.2 s (sleeping)" + kLast);
  BOOST_TEST(!is_stuck(job));
}

BOOST_AUTO_TEST_CASE(a_stopped_rank_is_told_as_stopped) {
  RankView stopped = rank_in(RankState::stopped, 5s);
  stopped.process = "stopped by a signal";
  const JobView job = waiting_for_rank_2(stopped);
  BOOST_TEST(why(job) == std::string(kOthers) + "is stopped by a signal" + kLast);
  BOOST_TEST(is_stuck(job));
}

BOOST_AUTO_TEST_CASE(a_killed_rank_is_told_with_its_signal) {
  const JobView job = waiting_for_rank_2(ended("was ended by signal 9 (Killed)"));
  BOOST_TEST(why(job) == std::string(kOthers) + "was ended by signal 9 (Killed)" + kLast);
  BOOST_TEST(is_stuck(job));
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_not_started_is_told) {
  RankView starting = rank_in(RankState::starting, 2s);
  starting.waits_for = {1};
  const JobView job = job_of({starting, RankView{}});
  BOOST_TEST(why(job) ==
             "Rank 0 waits for the job to start, for 2.0 s, for rank 1, which hasn't started.");
}

BOOST_AUTO_TEST_CASE(ranks_that_wait_for_each_other_in_different_calls_have_a_sentence_each) {
  RankView other = waiting_for({0});
  other.waits_in = CallView{7, 3, "barrier"};
  other.duration = 40s;
  const JobView job = job_of({waiting_for({1}), other});
  BOOST_TEST(why(job) ==
             "Rank 0 waits in all_reduce #4182 (sum, float32, 65536 elements), for 41.0 s, for "
             "rank 1, which waits in barrier #7 of group 3 for 40.0 s. "
             "Rank 1 waits in barrier #7 of group 3, for 40.0 s, for rank 0, which waits in "
             "all_reduce #4182 (sum, float32, 65536 elements) for 41.0 s.");
}

BOOST_AUTO_TEST_CASE(where_all_have_arrived_nobody_is_blamed) {
  BOOST_TEST(why(job_of({waiting_for({}), waiting_for({})})) ==
             "Ranks 0, 1 wait in all_reduce #4182 (sum, float32, 65536 elements), for 41.0 s, "
             "where all have arrived: the data are on their way.");
}

BOOST_AUTO_TEST_CASE(joined_ranks_are_told_beside_those_that_go_on) {
  const JobView job = job_of({rank_in(RankState::joined, 3s), rank_in(RankState::in_step, 3s),
                              rank_in(RankState::computing, 1s)});
  BOOST_TEST(why(job) ==
             "Ranks 0, 1 have joined and wait for the others to run out of inputs. Nobody waits: "
             "rank 2 is in user code.");
}

BOOST_AUTO_TEST_CASE(a_healthy_job_is_told_as_one) {
  const JobView job =
      job_of({rank_in(RankState::computing, 1ms), rank_in(RankState::computing, 1ms)});
  BOOST_TEST(why(job) == "Nobody waits: ranks 0, 1 are in user code.");
  BOOST_TEST(!is_stuck(job));
}

BOOST_AUTO_TEST_CASE(a_job_whose_ranks_have_all_ended_is_told_rank_by_rank) {
  BOOST_TEST(why(job_of({ended("left the job"), ended("was ended by signal 9 (Killed)")})) ==
             "Rank 0 left the job. Rank 1 was ended by signal 9 (Killed).");
}

BOOST_AUTO_TEST_CASE(a_failed_group_is_told_first) {
  JobView job = job_of({rank_in(RankState::computing, 1s)});
  job.failures = {"rank 1 calls barrier, rank 0 broadcast"};
  BOOST_TEST(why(job) ==
             "A group has failed: rank 1 calls barrier, rank 0 broadcast. Nobody waits: rank 0 is "
             "in user code.");
  BOOST_TEST(is_stuck(job));
}

BOOST_AUTO_TEST_CASE(of_many_that_are_awaited_only_the_numbers_are_told) {
  std::vector<RankView> ranks{waiting_for({1, 2, 3, 4, 5})};
  for (int i = 0; i < 5; ++i) ranks.push_back(rank_in(RankState::computing, 1s));
  BOOST_TEST(why(job_of(ranks)) ==
             "Rank 0 waits in all_reduce #4182 (sum, float32, 65536 elements), for 41.0 s, for "
             "ranks 1-5.");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::inspect
