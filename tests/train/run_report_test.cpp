#include "tools/train/run_report.h"

#include "tests/train/sample_report.h"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

namespace tensorplay::train {
namespace {

BOOST_AUTO_TEST_SUITE(run_report)

BOOST_AUTO_TEST_CASE(the_json_holds_options_epochs_ranks_and_verdict) {
  const auto json = nlohmann::json::parse(to_json(sample_report()));
  BOOST_TEST(json["options"]["data"] == "digits.csv");
  BOOST_TEST(json["options"]["shards"].size() == 2u);
  BOOST_TEST(json["data"]["training_rows"] == 48);
  BOOST_TEST(json["epochs"].size() == 2u);
  BOOST_TEST(json["epochs"][1]["training_loss"] == 1.5);
  BOOST_TEST(json["epochs"][1]["test_accuracy"] == 0.5);
  BOOST_TEST(json["ranks"][1]["iterations"] == 2);
  BOOST_TEST(json["ranks"][1]["joined_at"] == 1);
  BOOST_TEST(json["ranks"][1]["waiting_s"] == 1.5);
  BOOST_TEST(json["ranks"][0]["checksum"] == "fedcba9876543210");
  BOOST_TEST(json["verdict"]["checksums_equal"] == true);
  BOOST_TEST(json["verdict"]["test_accuracy"] == 0.5);
}

BOOST_AUTO_TEST_CASE(any_path_can_be_told) {
  RunReport report = sample_report();
  report.settings.data_path = "\"\\\n\xff.csv";
  BOOST_TEST(nlohmann::json::accept(to_json(report)));
}

BOOST_AUTO_TEST_CASE(models_that_differ_are_seen) {
  RunReport report = sample_report();
  BOOST_TEST(report.checksums_equal());
  report.ranks[1].checksum ^= 1;
  BOOST_TEST(!report.checksums_equal());
}

BOOST_AUTO_TEST_CASE(a_rank_that_was_lost_has_no_checksum_to_compare) {
  RunReport report = sample_report();
  report.ranks[0] = {.joined_at = 7, .checksum = 0, .is_lost = true};
  report.losses = {{0, 2, "in its batch 7"}};
  BOOST_TEST(report.checksums_equal());
  BOOST_TEST(report.survivors() == (std::vector<int>{1}));
  BOOST_TEST(report.epoch_iterations() == 1);
  const auto json = nlohmann::json::parse(to_json(report));
  BOOST_TEST(json["ranks"][0]["checksum"].is_null());
  BOOST_TEST(json["verdict"]["survivors"] == nlohmann::json({1}));
  BOOST_TEST(json["losses"][0]["rank"] == 0);
  BOOST_TEST(json["losses"][0]["epoch"] == 2);
  BOOST_TEST(json["losses"][0]["where"] == "in its batch 7");
  BOOST_TEST(json["data"]["trained_rows"] == 96);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
