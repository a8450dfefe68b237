#include "tools/train/progress.h"
#include "tools/train/summary.h"

#include "tests/train/sample_report.h"

#include <boost/test/unit_test.hpp>
#include <sstream>

namespace tensorplay::train {
namespace {

BOOST_AUTO_TEST_SUITE(console)

BOOST_AUTO_TEST_CASE(the_verdict_is_one_line) {
  RunReport report = sample_report();
  BOOST_TEST(verdict(report) == "test accuracy 0.500, 2 equal checksums");
  report.ranks[1].checksum ^= 1;
  BOOST_TEST(verdict(report) == "test accuracy 0.500, CHECKSUMS DIFFER from rank 0's on rank(s) 1");
  report.ranks.resize(1);
  BOOST_TEST(verdict(report) == "test accuracy 0.500, 1 checksum");
}

BOOST_AUTO_TEST_CASE(lost_ranks_are_told_one_by_one_and_the_others_compared_with_each_other) {
  RunReport report = sample_report();
  report.ranks.push_back(report.ranks.front());
  report.ranks[0].is_lost = true;
  report.ranks[0].checksum = 0;
  report.losses = {{0, 2, "in its batch 7: pid 12 was ended by signal 9 (Killed)"}};
  report.trained_rows = 90;
  const std::string text = summary(report);
  for (const char* part :
       {"            -  lost\n",
        "\nrank 0 was lost in epoch 2, in its batch 7: pid 12 was ended by signal 9 (Killed)\n",
        "\ntrained on 90 of 96 rows\n"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " isn't in:\n" << text);
  }
  BOOST_TEST(verdict(report) == "test accuracy 0.500, 2 equal checksums");
  report.ranks[2].checksum ^= 1;
  BOOST_TEST(verdict(report) == "test accuracy 0.500, CHECKSUMS DIFFER from rank 1's on rank(s) 2");
}

BOOST_AUTO_TEST_CASE(the_summary_has_a_line_per_epoch_and_rank_and_ends_with_the_verdict) {
  const std::string text = summary(sample_report());
  for (const char* part :
       {"\n    1           2.2500    0.2500           2.5000    0.1250\n",
        "\n   0      32        2             4         0   0.000 s         2 of 2"
        "  fedcba9876543210\n",
        "\n   1      16        1             2         2   1.500 s         1 of 2"
        "  fedcba9876543210\n"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " isn't in:\n" << text);
  }
  BOOST_TEST(text.ends_with("\ntest accuracy 0.500, 2 equal checksums\n"));
}

BOOST_AUTO_TEST_CASE(elsewhere_than_on_a_terminal_each_epoch_is_a_plain_line) {
  std::ostringstream stream;
  {
    Progress progress(stream, false, 2);
    progress.batch_done(1, 1, 2);
    progress.epoch_done({1, 2.25, 2.5, 0.25, 0.125});
    progress.batch_done(2, 1, 2);
    progress.epoch_done({2, 1.5, 1.75, 0.75, 0.5});
  }
  BOOST_TEST(stream.str() ==
             "epoch 1/2: loss 2.2500, test accuracy 0.1250\n"
             "epoch 2/2: loss 1.5000, test accuracy 0.5000\n");
}

BOOST_AUTO_TEST_CASE(on_a_terminal_one_line_is_redrawn_and_erased_at_the_end) {
  std::ostringstream stream;
  {
    Progress progress(stream, true, 2);
    progress.batch_done(1, 1, 2);
    progress.epoch_done({1, 2.25, 2.5, 0.25, 0.125});
  }
  const std::string erase = "\r\033[K";
  BOOST_TEST(stream.str() == erase + "[#######.......................]  25 %  epoch 0/2  " + erase +
                                 "[###############...............]  50 %  epoch 1/2  " +
                                 "loss 2.2500, test accuracy 0.1250" + erase);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
