// Jobs that are measured: what comes back from them, and what is told when they fail.

#include "tools/tpbench/job.h"

#include "lib/multiprocessing/run_children.h"
#include "tools/tpbench/limit_job.h"
#include "tools/tpbench/measurement.h"
#include "tools/tpbench/own_job.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using Perform = std::function<void(RigRank&, const Order&)>;

// Ranks that do what the test wants.
std::unique_ptr<Job> job_of(int ranks, const Perform& perform) {
  return std::make_unique<Job>("job", ranks, [=](Rig& rig) {
    const auto failure = multiprocessing::run_children(
        ranks, [&](int number) { RigRank(rig, number).serve(perform); });
    if (failure) throw Error(failure->message);
  });
}

std::string message_of(Job& job, const Order& order = {}) {
  try {
    job.samples(order);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

BOOST_AUTO_TEST_SUITE(job)

BOOST_AUTO_TEST_CASE(samples_are_the_slowest_ranks) {
  const auto job = job_of(3, [](RigRank& rank, const Order&) {
    rank.meet();
    rank.note(rank.rank() == 1 ? 5 : 1);
    rank.note(rank.rank());
  });
  BOOST_TEST(job->samples({}) == (std::vector<double>{5, 2}));
  BOOST_TEST(job->samples({}) == (std::vector<double>{5, 2}));  // nothing is left of the first
}

BOOST_AUTO_TEST_CASE(an_order_reaches_the_ranks) {
  const auto job = job_of(2, [](RigRank& rank, const Order& order) {
    rank.note(static_cast<double>(order.point.bytes));
  });
  BOOST_TEST(job->samples({.point = {.bytes = 123}}).front() == 123);
}

BOOST_AUTO_TEST_CASE(what_a_rank_throws_is_told_and_the_job_is_over) {
  const auto job = job_of(2, [](RigRank& rank, const Order&) {
    if (rank.rank() == 1) throw Error("element 3 is wrong");
    rank.meet();
  });
  BOOST_TEST(message_of(*job) == "job (2 ranks) failed: element 3 is wrong");
  BOOST_TEST(message_of(*job) == "job has failed before and can't be measured any more");
}

BOOST_AUTO_TEST_CASE(a_job_that_ends_too_early_is_told) {
  const auto job = job_of(2, [](RigRank&, const Order&) { ::_exit(0); });
  BOOST_TEST(message_of(*job) == "job (2 ranks) has ended too early");
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_is_told_with_what_it_wrote) {
  const auto command = [](const std::string&) {
    return std::vector<std::string>{"sh", "-c", "echo no network >&2; exit 3"};
  };
  const auto is_told = [](const Error& error) {
    return std::string(error.what()) == "peer (2 ranks) has ended too early: no network\n";
  };
  BOOST_CHECK_EXCEPTION(Job("peer", 2, command, {}), Error, is_told);
}

BOOST_AUTO_TEST_CASE(a_job_that_does_not_leave_is_ended_and_that_is_told) {
  std::ostringstream told;
  std::streambuf* const before = std::cerr.rdbuf(told.rdbuf());
  job_of(1, [](RigRank&, const Order&) {}).reset();
  const std::string none = told.str();
  auto job = std::make_unique<Job>("deaf", 1, [&](Rig& rig) {
    std::signal(SIGTERM, SIG_IGN);
    RigRank(rig, 0).serve([](RigRank& rank, const Order&) { rank.note(1); });
    for (;;) ::pause();
  });
  job.reset();
  std::cerr.rdbuf(before);
  BOOST_TEST(none == "");
  BOOST_TEST(told.str().find("doesn't end when asked to, and gets 15 (SIGTERM)") !=
             std::string::npos);
  BOOST_TEST(told.str().find("doesn't end when asked to, and gets 9 (SIGKILL)") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_wrong_result_is_found_in_every_element) {
  const auto job = job_of(2, [](RigRank& rank, const Order& order) {
    std::vector<std::byte> memory(order.point.bytes);
    Subject subject;
    subject.buffers.push_back({std::span(memory), std::span(memory)});
    subject.run = [] {};  // reduces nothing
    measure(rank, order, subject);
  });
  const std::string message = message_of(*job, {.point = {.bytes = 64}, .verify = true});
  BOOST_TEST(message.find("wrong result of all_reduce float32 sum, 2 ranks, 64 B: element ") !=
                 std::string::npos,
             message);
}

BOOST_AUTO_TEST_CASE(our_own_ranks_give_as_many_samples_as_they_are_asked_for) {
  const auto job = start_own_job(2, std::size_t{16} << 20);
  for (const Memory memory : {Memory::own, Memory::allocated, Memory::shared}) {
    for (const std::size_t bytes : {4, 65536}) {
      const Order order{.point = {.memory = memory, .bytes = bytes}, .samples = 4, .verify = true};
      const auto samples = job->samples(order);
      BOOST_TEST(samples.size() == 4u);
      BOOST_TEST(std::ranges::min(samples) > 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_limit_has_samples) {
  const auto job = start_limit_job(3, 4096);
  for (const Task task : {Task::copy, Task::hand_over, Task::line, Task::yield_switch,
                          Task::pipe_switch, Task::futex_wake}) {
    const auto samples = job->samples({.task = task, .point = {.bytes = 4096}, .samples = 3});
    BOOST_TEST(samples.size() == 3u);
    BOOST_TEST(std::ranges::min(samples) > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_plan_fills_the_time_and_keeps_to_its_bounds) {
  const Order order{.budget_s = 0.05};
  BOOST_TEST(plan_for(order, 1e-6).batch == 200u);
  BOOST_TEST(plan_for(order, 1e-6).samples == 250u);
  BOOST_TEST(plan_for(order, 1.0).batch == 1u);
  BOOST_TEST(plan_for(order, 1.0).samples == 5u);
  BOOST_TEST(plan_for({.samples = 2}, 1e-6).samples == 2u);
  const Order large{.point = {.bytes = 16384}, .budget_s = 0.05};
  BOOST_TEST(plan_for(large, 1e-6).batch == 1u);
  BOOST_TEST(plan_for(large, 1e-6).samples == kSamplesMax);
}

BOOST_AUTO_TEST_CASE(small_rooted_operations_start_together_unless_asked_otherwise) {
  Order order{.point = {.kind = distributed::CollectiveKind::broadcast, .bytes = 4}};
  BOOST_TEST(!is_batched(order));
  order.start = Start::back_to_back;
  BOOST_TEST(is_batched(order));
  order.point.bytes = 16384;
  BOOST_TEST(!is_batched(order));
  BOOST_TEST(is_batched({.point = {.bytes = 4}}));
  BOOST_TEST(!is_batched({.point = {.bytes = 4}, .start = Start::together}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
