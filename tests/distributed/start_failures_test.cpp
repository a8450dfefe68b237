// However a rank ends while the others still wait for all to start: they are told soon, all the
// same.

#include "tests/distributed/endings.h"
#include "tests/distributed/told.h"
#include "tests/shm/child_process.h"

#include <tensorplay/distributed/process_group.h>

#include <unistd.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;

// What can happen to a process whose main thread is in init_process_group().
std::vector<Ending> endings_from_outside() {
  std::vector<Ending> endings;
  std::ranges::copy_if(all_endings(), std::back_inserter(endings), [](const Ending& ending) {
    return ending.place == Place::either && ending.name != std::string("thread_before_process");
  });
  return endings;
}

ProcessGroupOptions options_for(int rank) {
  ProcessGroupOptions options;
  options.rank = rank;
  options.world_size = 4;  // one of which never comes
  options.job_name = "start-failures-" + std::to_string(getppid());
  options.timeout = std::chrono::seconds(30);
  return options;
}

std::string survive(int rank) {
  return thrown_by([&] { init_process_group(options_for(rank)); });
}

BOOST_AUTO_TEST_SUITE(start_failures)

BOOST_DATA_TEST_CASE(an_end_before_all_have_started_is_told,
                     boost::unit_test::data::make(endings_from_outside()), ending) {
  const std::string name = "/dev/shm/tensorplay-" + std::to_string(geteuid()) + "-start-failures-" +
                           std::to_string(getpid());
  ChildProcess first([&]() -> std::string {
    std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      end_by(ending);
    }).detach();
    init_process_group(options_for(2));
    return "";
  });
  while (!std::filesystem::exists(name)) std::this_thread::yield();
  ChildProcess second([]() -> std::string { return survive(0); });
  ChildProcess third([]() -> std::string { return survive(1); });
  const std::string told = second.report();
  BOOST_TEST(third.report() == told);
  for (const std::string& words :
       {std::string("rank 2, ") + ending.cause, "rank 2 (pid " + std::to_string(first.pid()) + ") ",
        std::string(ending.words), std::string("before all ranks of the job had started")}) {
    BOOST_TEST((told.find(words) != std::string::npos), told << " lacks " << words);
  }
  BOOST_TEST(!std::filesystem::exists(name));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
