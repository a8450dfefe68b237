// However a rank ends, whatever the others wait in: all of them are told soon, all the same.

#include "tests/distributed/endings.h"
#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"
#include "tests/distributed/waits.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <unistd.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

using algorithms::with_join;

constexpr int kFailing = 1;

// Runs `body` in a context, if there is to be one.
void run_in(bool context, bool throws_early, Counter& counter, const std::function<void()>& body) {
  if (context) {
    with_join({counter}, {.throw_on_early_termination = throws_early}, body);
  } else {
    body();
  }
}

// What a rank finds: the failing one ends, the others wait and tell.
std::string live(ProcessGroup& group, const Ending& ending, const Wait& wait) {
  std::int32_t pid = getpid();
  group.broadcast(std::span(&pid, 1), kFailing);
  Counter counter(group);
  const bool context = wait.of_context || ending.place == Place::inside;
  if (group.rank() == kFailing) {
    const bool inside = context && ending.place != Place::outside;
    run_in(inside, wait.throws_early, counter, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      end_by(ending);
    });
    return "";
  }
  const std::string text = told(group, [&] {
    run_in(context, wait.throws_early, counter, [&] { wait.act(group, counter); });
  });
  const bool by_pid = text.find("pid " + std::to_string(pid)) != std::string::npos;
  // A rank that throws in its context tells of itself.
  return by_pid || ending.place == Place::inside ? text : "without the pid: " + text;
}

BOOST_AUTO_TEST_SUITE(endings)

BOOST_DATA_TEST_CASE(every_end_is_told_in_every_wait,
                     boost::unit_test::data::make(all_endings()) *
                         boost::unit_test::data::make(all_waits()),
                     ending, wait) {
  const auto result =
      run(3, [&](ProcessGroup& group) -> std::string { return live(group, ending, wait); });
  const bool tells_itself = ending.place == Place::inside;
  expect_told(result, kFailing,
              {std::string("rank 1, ") + ending.cause, ending.words,
               tells_itself ? "before operation 2" : wait.words});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
