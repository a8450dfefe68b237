#include "tests/tprun/command.h"

#include <unistd.h>
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <ostream>
#include <string>
#include <vector>

namespace tensorplay::tests {
namespace {

using Lines = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

// tprun -n RANKS -- sh -c SCRIPT
CommandResult run_script(int ranks, const std::string& script, const std::string& input = "") {
  return run_tprun({"-n", std::to_string(ranks), "--", "sh", "-c", script}, input);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

long line_count(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

// The number after "<word>=" in a text.
pid_t pid_in(const std::string& text, const std::string& word) {
  return std::stoi(text.substr(text.find(word + "=") + word.size() + 1));
}

BOOST_AUTO_TEST_SUITE(exit_codes)

BOOST_AUTO_TEST_CASE(all_ranks_succeed_and_so_does_tprun) {
  const CommandResult result = run_script(3, "exit 0");
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(result.error == "");
}

BOOST_AUTO_TEST_CASE(the_exit_code_of_the_first_failure_is_tpruns) {
  const CommandResult result = run_script(3, "[ $RANK = 1 ] && exit 7; exec sleep 100");
  BOOST_TEST(result.exit_code == 7);
  BOOST_TEST(has(result.error, "tprun: rank 1 (pid "));
  BOOST_TEST(has(result.error, ") ended with exit code 7; ending the other ranks\n"));
  BOOST_TEST(line_count(result.error) == 1);
}

BOOST_AUTO_TEST_CASE(a_signal_becomes_128_and_its_number) {
  const CommandResult result = run_script(2, "[ $RANK = 1 ] && kill -SEGV $$; exec sleep 100");
  BOOST_TEST(result.exit_code == 128 + SIGSEGV);
  BOOST_TEST(has(result.error, "was ended by signal 11 (SIGSEGV); ending the other ranks\n"));
}

BOOST_AUTO_TEST_CASE(a_killed_rank_is_the_cause_even_if_a_peer_gives_up_before) {
  const CommandResult result =
      run_script(2, "[ $RANK = 1 ] && exit 2; sleep 0.05; kill -KILL $$; exec sleep 100");
  BOOST_TEST(result.exit_code == 128 + SIGKILL);
  BOOST_TEST(has(result.error, "rank 0 "));
}

BOOST_AUTO_TEST_CASE(a_single_rank_that_fails_is_told_without_others) {
  const CommandResult result = run_script(1, "exit 3");
  BOOST_TEST(result.exit_code == 3);
  BOOST_TEST(has(result.error, "ended with exit code 3\n"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(command_lines)

struct BadLine {
  Lines arguments;
  const char* error;

  friend std::ostream& operator<<(std::ostream& out, const BadLine& line) {
    return out << line.error;
  }
};

const std::vector<BadLine> kBadLines{
    {{}, "program is missing"},
    {{"-n", "2"}, "program is missing"},
    {{"-n", "2", "--"}, "program is missing"},
    {{"--", "true"}, "-n is missing"},
    {{"-n", "0", "--", "true"}, "-n 0"},
    {{"-n", "257", "--", "true"}, "1 ... 256"},
    {{"-n", "2x", "--", "true"}, "-n 2x"},
    {{"-n", "2", "--frobnicate", "--", "true"}, "--frobnicate"},
    {{"-n", "2", "--job", "a/b", "--", "true"}, "'/'"},
    {{"-n", "2", "--timeout", "5m", "--", "true"}, "--timeout 5m"},
    {{"-n", "2", "--timeout", "0", "--", "true"}, "--timeout 0"},
    {{"-n", "2", "--grace", "-1", "--", "true"}, "--grace"},
    {{"-n", "2", "--on-peer-failure", "ignore", "--", "true"},
     "--on-peer-failure ignore: raise or continue_without is needed"},
    {{"-n", "2", "--bind-to", "socket", "--", "true"}, "--bind-to socket: core, l3, numa or none"},
    {{"-n", "256", "--bind-to", "core", "--", "true"}, "there are 256 ranks, but"},
    {{"-n", "2", "--survive", "--on-peer-failure", "raise", "--", "true"}, "contradict"},
    {{"-n", "2", "--", "/nonexistent/program"},
     "can't start '/nonexistent/program': No such file or directory"},
    {{"-n", "2", "--", "/dev/null"}, "can't start '/dev/null': Permission denied"},
};

BOOST_DATA_TEST_CASE(what_cant_be_run_is_one_line_and_exit_code_2, kBadLines, line) {
  const CommandResult result = run_tprun(line.arguments);
  BOOST_TEST(result.exit_code == 2);
  BOOST_TEST(result.output == "");
  BOOST_TEST(line_count(result.error) == 1);
  BOOST_TEST(result.error.starts_with("tprun: "));
  BOOST_TEST(has(result.error, line.error), result.error);
}

BOOST_AUTO_TEST_CASE(help_goes_to_standard_output) {
  const CommandResult result = run_tprun({"--help"});
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(has(result.output, "tprun -n N [options] -- program"));
}

BOOST_AUTO_TEST_CASE(the_programs_options_are_its_own) {
  const CommandResult result = run_tprun({"-n", "1", "echo", "-n", "2", "--", "--job"});
  BOOST_TEST(result.output == "[0] 2 -- --job\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(environments)

BOOST_AUTO_TEST_CASE(each_rank_knows_its_place) {
  const CommandResult result =
      run_script(2, "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE");
  BOOST_TEST(sorted_lines(result.output) == (Lines{"[0] 0 2 0 2", "[1] 1 2 1 2"}),
             boost::test_tools::per_element());
}

// All of its hardware threads are usable here, unless whoever runs the tests has cut them apart.
BOOST_AUTO_TEST_CASE(a_rank_that_is_bound_to_a_core_may_run_on_that_alone) {
  const CommandResult result = run_tprun(
      {"-n", "1", "--bind-to", "core", "--", "sh", "-c",
       "cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status); echo $cpus; "
       "cat /sys/devices/system/cpu/cpu${cpus%%[-,]*}/topology/thread_siblings_list"});
  const Lines lines = sorted_lines(result.output);
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0] == lines[1]);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_not_bound_may_run_where_tprun_may) {
  const std::string script = "grep Cpus_allowed_list /proc/self/status";
  const CommandResult free = run_tprun({"-n", "1", "--bind-to", "none", "--", "sh", "-c", script});
  BOOST_TEST(free.output == "[0] " + Command({"sh", "-c", script}).finish().output);
}

BOOST_AUTO_TEST_CASE(a_job_without_a_name_gets_128_random_bits) {
  const auto name_of = [](const CommandResult& result) {
    const Lines lines = sorted_lines(result.output);
    BOOST_TEST(lines.size() == 2u);
    BOOST_TEST(lines.front().substr(4) == lines.back().substr(4));
    return lines.front().substr(4);
  };
  const std::string one = name_of(run_script(2, "echo $TENSORPLAY_JOB"));
  const std::string other = name_of(run_script(2, "echo $TENSORPLAY_JOB"));
  BOOST_TEST(one.size() == 32u);
  BOOST_TEST(one.find_first_not_of("0123456789abcdef") == std::string::npos);
  BOOST_TEST(one != other);
}

BOOST_AUTO_TEST_CASE(job_and_timeout_are_passed_on) {
  const CommandResult result =
      run_tprun({"-n", "1", "--job", "my.job", "--timeout", "2.5", "--", "sh", "-c",
                 "echo $TENSORPLAY_JOB $TENSORPLAY_TIMEOUT_S"});
  BOOST_TEST(result.output == "[0] my.job 2.5\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(output_and_error_stay_apart_and_tell_the_rank) {
  const CommandResult result = run_script(2, "echo out; echo err >&2");
  BOOST_TEST(sorted_lines(result.output) == (Lines{"[0] out", "[1] out"}),
             boost::test_tools::per_element());
  BOOST_TEST(sorted_lines(result.error) == (Lines{"[0] err", "[1] err"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_last_line_without_newline_gets_one) {
  BOOST_TEST(run_script(1, "printf 'a\\nb'").output == "[0] a\n[0] b\n");
}

BOOST_AUTO_TEST_CASE(a_progress_bar_is_one_line) {
  BOOST_TEST(run_script(1, "printf '10%%\\r20%%\\rdone\\n'").output == "[0] 10%\r20%\rdone\n");
}

// Lines longer than PIPE_BUF, written in parts, from eight ranks at once.
BOOST_AUTO_TEST_CASE(long_lines_of_different_ranks_never_mix) {
  constexpr std::size_t kLineBytes = 10'000;
  const CommandResult result =
      run_script(8,
                 "awk -v r=$RANK 'BEGIN { for (l = 0; l < 50; ++l) {"
                 " for (i = 0; i < 10000; ++i) printf \"%d\", r; printf \"\\n\" } }'");
  const Lines lines = sorted_lines(result.output);
  BOOST_TEST(lines.size() == 400u);
  for (const std::string& line : lines) {
    const std::string rank = line.substr(1, 1);
    BOOST_REQUIRE_EQUAL(line.substr(0, 4), "[" + rank + "] ");
    BOOST_REQUIRE_EQUAL(line.size(), kLineBytes + 4);
    BOOST_REQUIRE(line.find_first_not_of(rank, 4) == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_line_without_end_comes_in_pieces) {
  const CommandResult result = run_script(1, "head -c 1000000 /dev/zero | tr '\\0' x");
  const Lines lines = sorted_lines(result.output);
  BOOST_TEST(lines.size() == 16u);
  const auto count = std::count(result.output.begin(), result.output.end(), 'x');
  BOOST_TEST(count == 1'000'000);
}

BOOST_AUTO_TEST_CASE(what_a_rank_wrote_before_it_was_killed_comes_out) {
  const CommandResult result = run_script(1, "echo last words; kill -KILL $$");
  BOOST_TEST(result.output == "[0] last words\n");
}

BOOST_AUTO_TEST_CASE(without_prefix_the_streams_are_the_ranks_own) {
  const CommandResult result = run_tprun({"-n", "2", "--no-prefix", "--", "sh", "-c", "echo out"});
  BOOST_TEST(result.output == "out\nout\n");
}

BOOST_AUTO_TEST_CASE(standard_input_is_rank_0s) {
  const CommandResult result = run_script(2, "cat", "typed\n");
  BOOST_TEST(result.output == "[0] typed\n");
  BOOST_TEST(result.exit_code == 0);
}

BOOST_AUTO_TEST_CASE(ranks_that_nobody_reads_are_ended_by_sigpipe) {
  Command command(tprun({"-n", "2", "--", "sh", "-c", "while :; do echo line; done"}));
  command.wait_for_output("line");
  command.close_output();
  BOOST_TEST(command.finish().exit_code == 128 + SIGPIPE);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(endings)

BOOST_AUTO_TEST_CASE(a_rank_that_ignores_sigterm_is_killed_after_the_grace) {
  const auto start = Clock::now();
  const CommandResult result =
      run_tprun({"-n", "2", "--grace", "0.5", "--", "sh", "-c",
                 "if [ $RANK = 1 ]; then sleep 0.5; exit 4; fi; trap '' TERM; echo pid=$$;"
                 "while :; do sleep 0.1; done"});
  BOOST_TEST(result.exit_code == 4);
  BOOST_TEST((Clock::now() - start >= std::chrono::milliseconds(500)));
  BOOST_TEST(!is_running(pid_in(result.output, "pid")));
}

// The grace is longer than the test may last: it would end by that alone.
BOOST_AUTO_TEST_CASE(a_stopped_rank_hears_of_the_end_at_once) {
  const CommandResult result =
      run_tprun({"-n", "2", "--grace", "3600", "--", "sh", "-c",
                 "if [ $RANK = 0 ]; then kill -STOP $$; fi; sleep 0.5; exit 4"});
  BOOST_TEST(result.exit_code == 4);
}

BOOST_AUTO_TEST_CASE(output_that_is_lost_is_no_success) {
  const CommandResult result =
      Command({"sh", "-c", tprun({}).front() + " -n 1 -- echo x > /dev/full"}).finish();
  BOOST_TEST(result.exit_code == 1);
  BOOST_TEST(result.error ==
             "tprun: the ranks' output couldn't be written: No space left on device\n");
}

BOOST_AUTO_TEST_CASE(a_rank_may_clean_up_when_it_gets_sigterm) {
  const CommandResult result =
      run_script(2,
                 "trap 'echo cleaned; exit 0' TERM;"
                 "if [ $RANK = 1 ]; then sleep 0.5; exit 4; fi; while :; do sleep 0.05; done");
  BOOST_TEST(result.exit_code == 4);
  BOOST_TEST(result.output == "[0] cleaned\n");
}

BOOST_AUTO_TEST_CASE(what_a_program_has_started_may_clean_up_though_the_program_is_gone) {
  const CommandResult result = run_script(
      1,
      "sh -c 'trap \"sleep 0.3; echo cleaned; exit 0\" TERM; echo ready; while :; do sleep 0.05;"
      " done' & sleep 0.5; exit 4");
  BOOST_TEST(result.exit_code == 4);
  BOOST_TEST(result.output == "[0] ready\n[0] cleaned\n");
}

BOOST_AUTO_TEST_CASE(what_successful_programs_have_started_is_ended_too) {
  const CommandResult result = run_script(1, "sleep 1000 & echo pid=$!");
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(!is_running(pid_in(result.output, "pid")));
}

const std::vector<int> kSignals{SIGINT, SIGTERM, SIGHUP};

BOOST_DATA_TEST_CASE(a_signal_reaches_ranks_and_what_they_started, kSignals, number) {
  Command command(tprun({"-n", "2", "--", "sh", "-c",
                         "trap 'echo got; exit 0' INT TERM HUP;"
                         "sh -c 'echo pid$RANK=$$; exec sleep 1000' &"
                         "echo ready$RANK; while :; do sleep 0.05; done"}));
  for (const char* text : {"pid0", "pid1", "ready0", "ready1"}) command.wait_for_output(text);
  command.signal(number);
  const CommandResult result = command.finish();
  BOOST_TEST(result.exit_code == 128 + number);
  BOOST_TEST(has(result.output, "[0] got"));
  BOOST_TEST(has(result.output, "[1] got"));
  BOOST_TEST(!is_running(pid_in(result.output, "pid0")));
  BOOST_TEST(!is_running(pid_in(result.output, "pid1")));
  BOOST_TEST(has(result.error, "tprun: got signal "), result.error);
}

BOOST_AUTO_TEST_CASE(a_second_signal_kills_at_once) {
  Command command(tprun({"-n", "2", "--grace", "1000", "--", "sh", "-c",
                         "trap 'echo got' INT; echo ready$RANK; while :; do sleep 0.1; done"}));
  command.wait_for_output("ready0");
  command.wait_for_output("ready1");
  command.signal(SIGINT);
  command.wait_for_output("got");
  command.signal(SIGINT);
  BOOST_TEST(command.finish().exit_code == 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(ranks_die_with_tprun) {
  Command command(tprun({"-n", "2", "--", "sh", "-c",
                         "trap '' TERM HUP; echo rank$RANK=$$ ; while :; do sleep 0.1; done"}));
  command.wait_for_output("rank0");
  command.wait_for_output("rank1");
  command.signal(SIGKILL);
  const CommandResult result = command.finish();
  BOOST_TEST(result.exit_code == 128 + SIGKILL);
  BOOST_TEST(ends_soon(pid_in(result.output, "rank0")));
  BOOST_TEST(ends_soon(pid_in(result.output, "rank1")));
}

BOOST_AUTO_TEST_CASE(tprun_works_where_sigchld_is_ignored) {
  Command command({"sh", "-c", "trap '' CHLD; exec tools/tprun/tprun -n 2 -- sh -c 'exit 6'"});
  BOOST_TEST(command.finish().exit_code == 6);
}

BOOST_AUTO_TEST_CASE(sigint_stays_ignored_if_it_was) {
  Command command({"sh", "-c",
                   "trap '' INT; exec tools/tprun/tprun -n 1 -- sh -c "
                   "'echo ready; sleep 0.5; echo done'"});
  command.wait_for_output("ready");
  command.signal(SIGINT);
  const CommandResult result = command.finish();
  BOOST_TEST(result.exit_code == 0);
  BOOST_TEST(result.output == "[0] ready\n[0] done\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tests
