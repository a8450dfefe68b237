#include "tools/tprun/verdict.h"

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

namespace tensorplay::tprun {
namespace {

using distributed::PeerFailurePolicy;
using multiprocessing::ProcessEnd;

const Verdict::Clock::time_point kStart{std::chrono::hours(1)};
const ProcessEnd kExit0{ProcessEnd::How::exited, 0};
const ProcessEnd kExit2{ProcessEnd::How::exited, 2};
const ProcessEnd kExit3{ProcessEnd::How::exited, 3};
const ProcessEnd kSegv{ProcessEnd::How::killed, SIGSEGV};
const ProcessEnd kKill{ProcessEnd::How::killed, SIGKILL};

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(without_a_failure_there_is_nothing_to_decide) {
  Verdict verdict(PeerFailurePolicy::raise);
  BOOST_TEST(!verdict.decide(true, kStart));
  BOOST_TEST(!verdict.due().has_value());
  BOOST_TEST(verdict.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(an_exit_code_counts_when_it_has_settled) {
  Verdict verdict(PeerFailurePolicy::raise);
  verdict.note_end(1, 10, kExit2, kStart);
  BOOST_TEST(!verdict.decide(false, kStart));
  BOOST_TEST((verdict.due() == kStart + Verdict::kSettling));
  BOOST_TEST(verdict.decide(false, kStart + Verdict::kSettling));
  BOOST_TEST(verdict.text() == "rank 1 (pid 10) ended with exit code 2");
}

BOOST_AUTO_TEST_CASE(nobody_waits_when_all_have_ended) {
  Verdict verdict(PeerFailurePolicy::raise);
  verdict.note_end(1, 10, kExit2, kStart);
  BOOST_TEST(verdict.decide(true, kStart));
}

BOOST_AUTO_TEST_CASE(a_signal_takes_precedence_over_exit_codes_and_counts_at_once) {
  Verdict verdict(PeerFailurePolicy::raise);
  verdict.note_end(1, 10, kExit2, kStart);
  verdict.note_end(0, 9, kSegv, kStart + Verdict::kSettling / 2);
  verdict.note_end(2, 11, kExit3, kStart + Verdict::kSettling / 2);
  BOOST_TEST(verdict.decide(false, kStart + Verdict::kSettling / 2));
  BOOST_TEST(verdict.exit_code() == 128 + SIGSEGV);
  BOOST_TEST(verdict.text() == "rank 0 (pid 9) was ended by signal 11 (SIGSEGV)");
}

BOOST_AUTO_TEST_CASE(the_first_of_two_exit_codes_counts) {
  Verdict verdict(PeerFailurePolicy::raise);
  verdict.note_end(1, 10, kExit2, kStart);
  verdict.note_end(0, 9, kExit3, kStart);
  BOOST_TEST(verdict.exit_code() == 2);
}

BOOST_AUTO_TEST_CASE(after_a_signal_to_the_launcher_nothing_else_counts) {
  Verdict verdict(PeerFailurePolicy::raise);
  verdict.note_signal(SIGINT);
  verdict.note_end(0, 9, kSegv, kStart);
  BOOST_TEST(verdict.exit_code() == 128 + SIGINT);
  BOOST_TEST(verdict.text() == "got signal 2 (SIGINT)");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(verdict_where_the_others_go_on)

// Whatever fails at first, and however long ago that is, nobody is ended by it.
int exit_code_of(const std::vector<ProcessEnd>& ends) {
  Verdict verdict(PeerFailurePolicy::continue_without);
  for (const ProcessEnd& end : ends) {
    verdict.note_end(0, 9, end, kStart);
    BOOST_TEST(!verdict.due().has_value());
    BOOST_TEST(!verdict.decide(false, kStart + 100 * Verdict::kSettling));
  }
  const bool all_is_well = verdict.text().empty();
  BOOST_TEST(verdict.decide(true, kStart) == !all_is_well);
  return verdict.exit_code();
}

BOOST_AUTO_TEST_CASE(lost_ranks_are_no_failure_if_one_succeeds) {
  BOOST_TEST(exit_code_of({kExit0, kExit0}) == 0);
  BOOST_TEST(exit_code_of({kKill, kSegv, kExit0}) == 0);
  BOOST_TEST(exit_code_of({kExit0, kKill}) == 0);
}

BOOST_AUTO_TEST_CASE(the_first_loss_counts_if_all_are_lost) {
  BOOST_TEST(exit_code_of({kSegv, kKill}) == 128 + SIGSEGV);
}

BOOST_AUTO_TEST_CASE(the_first_exit_code_counts_whoever_is_lost_or_succeeds) {
  BOOST_TEST(exit_code_of({kKill, kExit2, kExit3, kExit0, kSegv}) == 2);
  BOOST_TEST(exit_code_of({kExit0, kExit3}) == 3);
}

BOOST_AUTO_TEST_CASE(a_signal_to_the_launcher_counts_more) {
  Verdict verdict(PeerFailurePolicy::continue_without);
  verdict.note_end(0, 9, kExit0, kStart);
  verdict.note_end(1, 10, kKill, kStart);
  verdict.note_signal(SIGINT);
  BOOST_TEST(verdict.decide(false, kStart));
  BOOST_TEST(verdict.exit_code() == 128 + SIGINT);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tprun
