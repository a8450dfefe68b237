#include "tools/tprun/verdict.h"

#include <boost/test/unit_test.hpp>
#include <csignal>

namespace tensorplay::tprun {
namespace {

using multiprocessing::ProcessEnd;

const Verdict::Clock::time_point kStart{std::chrono::hours(1)};
const ProcessEnd kExit2{ProcessEnd::How::exited, 2};
const ProcessEnd kExit3{ProcessEnd::How::exited, 3};
const ProcessEnd kSegv{ProcessEnd::How::killed, SIGSEGV};

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(without_a_failure_there_is_nothing_to_decide) {
  Verdict verdict;
  BOOST_TEST(!verdict.decide(true, kStart));
  BOOST_TEST(!verdict.due().has_value());
  BOOST_TEST(verdict.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(an_exit_code_counts_when_it_has_settled) {
  Verdict verdict;
  verdict.note_failure(1, 10, kExit2, kStart);
  BOOST_TEST(!verdict.decide(false, kStart));
  BOOST_TEST((verdict.due() == kStart + Verdict::kSettling));
  BOOST_TEST(verdict.decide(false, kStart + Verdict::kSettling));
  BOOST_TEST(verdict.text() == "rank 1 (pid 10) ended with exit code 2");
}

BOOST_AUTO_TEST_CASE(nobody_waits_when_all_have_ended) {
  Verdict verdict;
  verdict.note_failure(1, 10, kExit2, kStart);
  BOOST_TEST(verdict.decide(true, kStart));
}

BOOST_AUTO_TEST_CASE(a_signal_takes_precedence_over_exit_codes_and_counts_at_once) {
  Verdict verdict;
  verdict.note_failure(1, 10, kExit2, kStart);
  verdict.note_failure(0, 9, kSegv, kStart + Verdict::kSettling / 2);
  verdict.note_failure(2, 11, kExit3, kStart + Verdict::kSettling / 2);
  BOOST_TEST(verdict.decide(false, kStart + Verdict::kSettling / 2));
  BOOST_TEST(verdict.exit_code() == 128 + SIGSEGV);
  BOOST_TEST(verdict.text() == "rank 0 (pid 9) was ended by signal 11 (SIGSEGV)");
}

BOOST_AUTO_TEST_CASE(the_first_of_two_exit_codes_counts) {
  Verdict verdict;
  verdict.note_failure(1, 10, kExit2, kStart);
  verdict.note_failure(0, 9, kExit3, kStart);
  BOOST_TEST(verdict.exit_code() == 2);
}

BOOST_AUTO_TEST_CASE(after_a_signal_to_the_launcher_nothing_else_counts) {
  Verdict verdict;
  verdict.note_signal(SIGINT);
  verdict.note_failure(0, 9, kSegv, kStart);
  BOOST_TEST(verdict.exit_code() == 128 + SIGINT);
  BOOST_TEST(verdict.text() == "got signal 2 (SIGINT)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tprun
