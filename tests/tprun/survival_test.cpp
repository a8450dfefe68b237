// tprun --survive: the ranks that are left go on when one dies.
#include "tests/tprun/command.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

namespace tensorplay::tests {
namespace {

using Lines = std::vector<std::string>;

// No grace: a rank that is ended early couldn't come to its end.
CommandResult run_script(int ranks, const std::string& script,
                         const Lines& options = {"--survive"}) {
  Lines arguments{"-n", std::to_string(ranks), "--grace", "0"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", script});
  return run_tprun(arguments);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

long line_count(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

BOOST_AUTO_TEST_SUITE(survival)

BOOST_AUTO_TEST_CASE(a_killed_rank_is_one_line_and_the_others_come_to_their_end) {
  const CommandResult result =
      run_script(3, "[ $RANK = 1 ] && kill -KILL $$; sleep 0.5; echo done");
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(sorted_lines(result.output) == (Lines{"[0] done", "[2] done"}),
             boost::test_tools::per_element());
  BOOST_TEST(result.error.starts_with("tprun: rank 1 (pid "), result.error);
  BOOST_TEST(has(result.error, ") was ended by signal 9 (SIGKILL); the others go on\n"));
  BOOST_TEST(line_count(result.error) == 1);
}

BOOST_AUTO_TEST_CASE(an_exit_code_fails_the_job_but_ends_nobody) {
  const CommandResult result =
      run_script(3, "case $RANK in 0) kill -SEGV $$;; 1) exit 7;; *) sleep 0.5; echo done;; esac");
  BOOST_TEST(result.exit_code == 7);
  BOOST_TEST(result.output == "[2] done\n");
  BOOST_TEST(has(result.error, "rank 0 (pid "), result.error);
  BOOST_TEST(has(result.error, ") was ended by signal 11 (SIGSEGV); the others go on\n"));
  BOOST_TEST(has(result.error, "rank 1 (pid "), result.error);
  BOOST_TEST(has(result.error, ") ended with exit code 7; the others go on\n"));
  BOOST_TEST(line_count(result.error) == 2);
}

BOOST_AUTO_TEST_CASE(a_job_whose_ranks_are_all_lost_fails_by_the_first) {
  const CommandResult result =
      run_script(2, "[ $RANK = 1 ] && kill -SEGV $$; sleep 0.5; kill -KILL $$");
  BOOST_TEST(result.exit_code == 128 + SIGSEGV);
  BOOST_TEST(has(result.error, ") was ended by signal 9 (SIGKILL)\n"), result.error);
  BOOST_TEST(line_count(result.error) == 2);
}

// The one can't be told of the time-out that ended the others.
BOOST_AUTO_TEST_CASE(a_rank_that_stays_stopped_when_the_others_have_ended_is_ended) {
  const Lines options{"--survive", "--timeout", "1", "--stopped-grace", "0.5"};
  const std::string stopped = "[ $RANK = 1 ] && kill -STOP $$; ";
  const CommandResult failed = run_script(3, stopped + "exec tests/tprun/meeting_rank", options);
  BOOST_TEST(failed.exit_code == 3);
  BOOST_TEST(has(failed.error, "tprun: rank 1 (pid "), failed.error);
  BOOST_TEST(has(failed.error, ") has been stopped for 0."), failed.error);
  BOOST_TEST(has(failed.error, " s while no other rank was running; ending it by SIGKILL\n"));
  BOOST_TEST(has(failed.error, ") was ended by signal 9 (SIGKILL)\n"), failed.error);
  BOOST_TEST(run_script(3, stopped + "echo done", options).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_stopped_for_less_than_the_grace_goes_on) {
  const CommandResult result = run_script(2,
                                          "[ $RANK = 0 ] && exit 0; (sleep 1; kill -CONT $$) & "
                                          "kill -STOP $$; echo went on",
                                          {"--survive", "--stopped-grace", "600"});
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(result.output == "[1] went on\n");
  BOOST_TEST(result.error == "");
}

BOOST_AUTO_TEST_CASE(ranks_are_told_the_policy_by_their_environment) {
  const std::string script = "echo $TENSORPLAY_ON_PEER_FAILURE";
  BOOST_TEST(run_script(1, script).output == "[0] continue_without\n");
  BOOST_TEST(run_script(1, script, {"--on-peer-failure", "continue_without"}).output ==
             "[0] continue_without\n");
  BOOST_TEST(run_script(1, script, {}).output == "[0] raise\n");
}

BOOST_AUTO_TEST_CASE(tpruns_own_environment_decides_where_no_option_does) {
  const std::string job = " -n 2 -- sh -c '[ $RANK = 1 ] && kill -KILL $$; sleep 0.5; echo done'";
  const auto run = [&](const std::string& variable, const std::string& options) {
    const std::string program = tprun({}).front() + options;
    return Command({"sh", "-c", "TENSORPLAY_ON_PEER_FAILURE=" + variable + " " + program + job})
        .finish();
  };
  BOOST_TEST(run("continue_without", "").output == "[0] done\n");
  BOOST_TEST(run("continue_without", " --on-peer-failure raise").exit_code == 128 + SIGKILL);
  const CommandResult refused = run("maybe", "");
  BOOST_TEST(refused.exit_code == 2);
  BOOST_TEST(has(refused.error, "TENSORPLAY_ON_PEER_FAILURE=maybe: raise or continue_without"),
             refused.error);
}

// The time-outs are longer than the test may last.

BOOST_AUTO_TEST_CASE(a_rank_that_dies_before_it_has_met_the_others_is_not_waited_for) {
  const std::string others = "exec tests/tprun/meeting_rank";
  const Lines options{"--survive", "--timeout", "600"};
  const CommandResult killed =
      run_script(3, "[ $RANK = 1 ] && kill -KILL $$; sleep 0.5; " + others, options);
  BOOST_TEST(killed.exit_code == 3);
  BOOST_TEST(has(killed.error,
                 "rank 1 has not come to init_process_group: it was ended by signal 9 (SIGKILL)"),
             killed.error);
  const CommandResult left =
      run_script(3, "[ $RANK = 2 ] && { sleep 0.5; exit 7; }; " + others, options);
  BOOST_TEST(left.exit_code == 7);
  BOOST_TEST(
      has(left.error, "rank 2 has not come to init_process_group: it ended with exit code 7"),
      left.error);
}

BOOST_AUTO_TEST_CASE(who_comes_when_the_others_have_given_up_is_told_as_well) {
  const CommandResult result =
      run_script(3, "[ $RANK = 1 ] && kill -KILL $$; sleep $RANK; exec tests/tprun/meeting_rank",
                 {"--survive", "--timeout", "600"});
  BOOST_TEST(result.exit_code == 3);
  for (const char* teller : {"[0] rank 1 has not come", "[2] rank "}) {
    BOOST_TEST(has(result.error, teller), result.error);
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_succeeds_without_coming_is_not_waited_for_under_any_policy) {
  const CommandResult result =
      run_script(2, "[ $RANK = 1 ] || exec tests/tprun/meeting_rank", {"--timeout", "600"});
  BOOST_TEST(result.exit_code == 3);
  BOOST_TEST(
      has(result.error, "rank 1 has not come to init_process_group: it ended with exit code 0"),
      result.error);
}

BOOST_AUTO_TEST_CASE(a_signal_to_tprun_ends_the_survivors) {
  Command command(tprun({"-n", "3", "--survive", "--", "sh", "-c",
                         "[ $RANK = 1 ] && kill -KILL $$; trap 'echo got; exit 0' TERM;"
                         "echo ready$RANK; while :; do sleep 0.05; done"}));
  command.wait_for_output("ready0");
  command.wait_for_output("ready2");
  command.signal(SIGTERM);
  const CommandResult result = command.finish();
  BOOST_TEST(result.exit_code == 128 + SIGTERM);
  BOOST_TEST(has(result.output, "[0] got"));
  BOOST_TEST(has(result.output, "[2] got"));
  BOOST_TEST(has(result.error, "tprun: got signal 15 (SIGTERM); ending the ranks\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tests
