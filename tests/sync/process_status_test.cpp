#include "lib/sync/process_status.h"

#include "tests/shm/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>

namespace tensorplay::sync {
namespace {

BOOST_AUTO_TEST_SUITE(process_status)

BOOST_AUTO_TEST_CASE(tells_of_the_asking_process) {
  const auto status = status_of_process(getpid());
  BOOST_REQUIRE(status.has_value());
  BOOST_TEST(status->state == 'R');
  BOOST_TEST(status->start_time > 0U);
}

BOOST_AUTO_TEST_CASE(tells_nothing_of_a_process_that_is_not_there) {
  BOOST_TEST(!status_of_process(-1).has_value());
  testing::ChildProcess child([] { return std::string(); });
  child.reap();
  BOOST_TEST(!status_of_process(child.pid()).has_value());
}

BOOST_AUTO_TEST_CASE(a_name_of_parentheses_and_blanks_confuses_nobody) {
  testing::ChildProcess child([]() -> std::string {
    const auto before = status_of_process(getpid());
    prctl(PR_SET_NAME, ") Z 1 2 (a) b");
    const auto after = status_of_process(getpid());
    if (!before || !after) return "no status";
    if (after->state != 'R') return std::string("the state is ") + after->state;
    return before->start_time == after->start_time ? "" : "the start time differs";
  });
  BOOST_TEST(child.report() == "");
}

BOOST_AUTO_TEST_CASE(a_zombie_shows_how_it_ended) {
  testing::ChildProcess child([]() -> std::string { _exit(7); });
  child.wait_for_end();
  const auto status = status_of_process(child.pid());
  BOOST_REQUIRE(status.has_value());
  BOOST_TEST(status->state == 'Z');
  BOOST_TEST(WIFEXITED(status->exit_code));
  BOOST_TEST(WEXITSTATUS(status->exit_code) == 7);
}

BOOST_AUTO_TEST_CASE(a_child_is_in_the_namespace_of_its_parent) {
  const std::uint64_t ours = pid_namespace();
  BOOST_TEST(ours != 0U);
  testing::ChildProcess child([=]() -> std::string { return pid_namespace() == ours ? "" : "no"; });
  BOOST_TEST(child.report() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
