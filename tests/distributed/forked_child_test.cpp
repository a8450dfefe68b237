// A child that a rank forks: it can't use its parent's groups, in no way, and disturbs nobody by
// what it does or by how it ends.

#include "tests/distributed/counter.h"
#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"
#include "tests/worlds/findings.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace tensorplay::distributed {
namespace {

using algorithms::Join;
using worlds::Findings;

// Runs `body` in a forked child; what it finds is told on stderr. The child's status.
int in_child(const std::function<std::string()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string found = body();
    if (!found.empty()) std::fprintf(stderr, "in the forked child: %s\n", found.c_str());
    _exit(found.empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

void expect_refusal(Findings& found, const std::function<void()>& use, const char* what) {
  found.contains(found.throws<InvalidArgument>(use, what), "after fork()", what);
}

BOOST_AUTO_TEST_SUITE(forked_children)

BOOST_AUTO_TEST_CASE(are_refused_every_use_of_a_group) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    std::int64_t one = 1;
    const std::span<int> memory = group.allocate<int>(100);
    Counter counter(group);
    Work pending = group.all_reduce_async(std::span(&one, 1));
    const int status = in_child([&] {
      Findings found;
      expect_refusal(
          found, [&] { group.barrier(); }, "barrier()");
      expect_refusal(
          found, [&] { group.barrier_async(); }, "barrier_async()");
      expect_refusal(
          found, [&] { group.allocate<int>(10); }, "allocate()");
      expect_refusal(
          found, [&] { group.deallocate(memory); }, "deallocate()");
      expect_refusal(
          found, [&] { group.split(0, 0); }, "split()");
      expect_refusal(
          found, [&] { pending.wait(); }, "wait()");
      expect_refusal(
          found, [&] { pending.is_completed(); }, "is_completed()");
      expect_refusal(
          found, [&] { Join join({counter}, {}); }, "a Join context");
      return found.text();
    });
    Findings found;
    found.equal(status, 0, "the status of the child");
    pending.wait();
    found.equal(one, 2, "the sum that was under way");
    group.deallocate(memory);
    add_up(group, 10, 10);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_CASE(are_refused_every_use_of_a_context) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    Findings found;
    Counter counter(group);
    auto join = std::make_unique<Join>(algorithms::JoinableList{counter});
    counter.count();
    const int status = in_child([&] {
      Findings in_child;
      expect_refusal(
          in_child, [&] { Join::notify_join_context(counter); }, "notify");
      expect_refusal(
          in_child, [&] { join->finish(); }, "finish()");
      return in_child.text();
    });
    found.equal(status, 0, "the status of the child");
    counter.count();
    join->finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// By the end of the last handles, and by an exception that leaves a context.
BOOST_AUTO_TEST_CASE(end_without_ending_anything_of_their_parent_s) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    Findings found;
    std::optional<ProcessGroup> part = group.split(0, 0);
    Counter counter(*part);
    std::optional<Counter> other(*part);
    std::int64_t one = 1;
    auto join = std::make_unique<Join>(algorithms::JoinableList{counter});
    std::optional<Work> pending = part->all_reduce_async(std::span(&one, 1));
    found.equal(in_child([&] {
                  pending.reset();
                  other.reset();
                  part.reset();
                  return std::string();
                }),
                0, "the end of a child that drops its handles");
    found.equal(in_child([&]() -> std::string {
                  try {
                    const std::unique_ptr<Join> own = std::move(join);
                    throw std::runtime_error("in the child");
                  } catch (const std::runtime_error&) {
                    return "";
                  }
                }),
                0, "the end of a child that leaves its context by an exception");
    pending->wait();
    found.equal(one, 2, "the sum that was under way");
    counter.count();
    join->finish();
    add_up(*part, 10, 10);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
