// The training program as users start it.

#include "tests/train/shell_command.h"
#include "tests/train/temporary_folder.h"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tensorplay::train {
namespace {

namespace data = boost::unit_test::data;

const std::string kTrain = "tools/train/train ";
const std::string kDigits = "--data tools/train/data/digits.csv ";

std::string started(int ranks, const std::string& options) {
  return "tools/tprun/tprun -n " + std::to_string(ranks) + " --no-prefix -- " + kTrain + options;
}

// Runs the program and gives its report.
nlohmann::json report_of(int ranks, const std::string& options) {
  const TemporaryFolder folder;
  const auto path = folder / "run.json";
  const Outcome outcome = run_shell(started(ranks, kDigits + options + " --out " + path.string()));
  BOOST_REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(folder.entry_count() == 1);
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

double test_accuracy(const nlohmann::json& report) {
  return report["verdict"]["test_accuracy"].get<double>();
}

std::set<std::string> checksums(const nlohmann::json& report) {
  std::set<std::string> found;
  for (const auto& rank : report["ranks"]) found.insert(rank["checksum"].get<std::string>());
  return found;
}

std::set<int> iterations(const nlohmann::json& report) {
  std::set<int> found;
  for (const auto& rank : report["ranks"]) found.insert(rank["iterations"].get<int>());
  return found;
}

BOOST_AUTO_TEST_SUITE(train_program)

BOOST_AUTO_TEST_CASE(four_uneven_ranks_learn_the_digits_and_end_with_one_model) {
  const Outcome outcome = run_shell(started(4, kDigits + "--shards 40,30,20,10"));
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(outcome.output.find(", 4 equal checksums\n") != std::string::npos, outcome.output);
  BOOST_TEST(outcome.error.starts_with("epoch 1/20: "), outcome.error);
}

BOOST_AUTO_TEST_CASE(ranks_make_as_many_iterations_as_they_have_batches) {
  const auto report = report_of(4, "--shards 40,30,20,10");
  BOOST_TEST(test_accuracy(report) >= 0.95);
  BOOST_TEST(checksums(report).size() == 1u);
  BOOST_TEST(iterations(report) == (std::set<int>{180, 360, 540, 720}));
  for (const auto& rank : report["ranks"]) {
    BOOST_TEST(rank["joined_at"] == rank["batches"]);
    BOOST_TEST(rank["iterations"].get<int>() + rank["shadowed"].get<int>() == 720);
  }
  BOOST_TEST(report["verdict"]["last_joiners"] == nlohmann::json({0}));
}

BOOST_DATA_TEST_CASE(the_same_options_give_the_same_model,
                     data::make({"--shards 40,30,20,10", "--shards 1,2,3,4 --divide-by active",
                                 "--optimizer adam --shards 5,1,1,1"}),
                     options) {
  const auto first = checksums(report_of(4, std::string(options) + " --epochs 3"));
  const auto again = checksums(report_of(4, std::string(options) + " --epochs 3"));
  BOOST_TEST(first.size() == 1u);
  BOOST_TEST(first == again);
  const auto other = checksums(report_of(4, std::string(options) + " --epochs 3 --seed 2"));
  BOOST_TEST(first != other);
}

BOOST_DATA_TEST_CASE(every_optimizer_learns, data::make({"sgd", "adam", "adamw"}), optimizer) {
  const auto report =
      report_of(3, std::string("--shards 3,2,1 --weight-decay 1e-4 --optimizer ") + optimizer);
  BOOST_TEST(test_accuracy(report) >= 0.95);
  BOOST_TEST(checksums(report).size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_size_of_buckets_changes_no_bit) {
  const std::string options = "--shards 40,30,20,10 --epochs 2 --bucket-kib ";
  BOOST_TEST(checksums(report_of(4, options + "1")) == checksums(report_of(4, options + "1024")));
}

BOOST_AUTO_TEST_CASE(a_rank_without_rows_ends_with_the_model_of_the_others) {
  const auto report = report_of(2, "--shards 0,100 --epochs 2");
  BOOST_TEST(checksums(report).size() == 1u);
  BOOST_TEST(report["ranks"][0]["iterations"] == 0);
  BOOST_TEST(report["ranks"][1]["iterations"] == 180);
}

BOOST_AUTO_TEST_CASE(a_single_process_needs_no_launcher) {
  const Outcome outcome = run_shell("RANK=0 WORLD_SIZE=1 " + kTrain + kDigits);
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(outcome.output.ends_with(", 1 checksum\n"), outcome.output);
}

BOOST_AUTO_TEST_CASE(there_can_be_as_many_ranks_as_rows) {
  const TemporaryFolder folder;
  const auto path = folder / "few.csv";
  std::ofstream(path) << "1,0\r\n2,1\r\n3,0\r\n4,1\r\n5,0\r\n6,1";
  const Outcome outcome = run_shell(started(6, "--epochs 2 --data " + path.string()));
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(outcome.output.ends_with(", 6 equal checksums\n"), outcome.output);
}

BOOST_AUTO_TEST_CASE(all_files_asked_for_are_written_and_no_other) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_shell(started(2, kDigits + "--epochs 2 --out " + (folder / "r").string() + " --plot " +
                               (folder / "p").string() + " --model " + (folder / "m").string()));
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(folder.entry_count() == 3);
}

BOOST_AUTO_TEST_CASE(early_termination_is_an_error_that_names_the_rank) {
  const Outcome outcome =
      run_shell(started(4, kDigits + "--shards 40,30,20,10 --throw-on-early-termination"));
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST(outcome.error.find("train: Rank 3 exhausted all inputs.") != std::string::npos,
             outcome.error);
  const auto even =
      report_of(2, "--shards 1,1 --epochs 2 --batch 719 --throw-on-early-termination");
  BOOST_TEST(even["verdict"]["checksums_equal"] == true);
}

BOOST_AUTO_TEST_SUITE_END()

// Each ends with exit code 2 and one line of the program's own, and leaves nothing.
BOOST_AUTO_TEST_SUITE(train_program_refuses)

void expect_refusal(int ranks, const std::string& options, const std::string& message) {
  const Outcome outcome = run_shell(started(ranks, options));
  BOOST_TEST(outcome.exit_code == 2, options << ": " << outcome.error);
  BOOST_TEST(outcome.output == "");
  BOOST_TEST(outcome.error.find("train: " + message) != std::string::npos,
             options << ": " << outcome.error);
  std::size_t told = 0;
  for (std::size_t at = outcome.error.find("train: "); at != std::string::npos;
       at = outcome.error.find("train: ", at + 1)) {
    ++told;
  }
  BOOST_TEST(told == 1u, options << ": " << outcome.error);
}

BOOST_AUTO_TEST_CASE(options_that_are_wrong) {
  expect_refusal(4, kDigits + "--epoch 3", "The following arguments were not expected: 3 --epoch");
  expect_refusal(4, "", "--data is required");
  expect_refusal(4, kDigits + "--batch 0", "--batch: '0' isn't a whole number from 1");
  expect_refusal(4, kDigits + "--shards 40,30,20", "--shards has 3 shares for 4 ranks");
  expect_refusal(2, kDigits + "--shards 40,-1", "--shards 40,-1: '-1' is negative");
  expect_refusal(2, kDigits + "--shards 40,x", "--shards 40,x: 'x' isn't a number");
  expect_refusal(2, kDigits + "--shards 0,0", "--shards 0,0: all are 0");
  expect_refusal(2, kDigits + "--out /no/such/folder/run.json", "--out '/no/such/folder/run.json'");
}

BOOST_AUTO_TEST_CASE(data_that_is_wrong) {
  expect_refusal(2, "--data no/such.csv", "no/such.csv: No such file or directory");
  const TemporaryFolder folder;
  const std::string path = (folder / "bad.csv").string();
  std::ofstream(path) << "1,2,0\n1,x,1\n";
  expect_refusal(2, "--data " + path, path + ":2: field 2 is 'x', not a number");
  std::ofstream(path) << "";
  expect_refusal(2, "--data " + path, path + ": the file has no rows");
  BOOST_TEST(folder.entry_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_learning_rate_that_leads_nowhere) {
  const TemporaryFolder folder;
  expect_refusal(
      2,
      kDigits + "--learning-rate 1000 --weight-decay 1000 --out " + (folder / "run.json").string(),
      "the loss is no finite number any more after epoch ");
  BOOST_TEST(folder.entry_count() == 0);
}

BOOST_AUTO_TEST_CASE(an_environment_without_its_rank) {
  const std::string bare = "env -u RANK -u WORLD_SIZE ";
  const Outcome unset = run_shell(bare + kTrain + kDigits);
  BOOST_TEST(unset.exit_code == 2);
  BOOST_TEST(unset.error.starts_with("train: "), unset.error);
  BOOST_TEST(std::ranges::count(unset.error, '\n') == 1);
  const Outcome beyond = run_shell("RANK=4 WORLD_SIZE=4 " + kTrain + kDigits);
  BOOST_TEST(beyond.exit_code == 2);
  BOOST_TEST(beyond.error.starts_with("train: "), beyond.error);
  BOOST_TEST(std::ranges::count(beyond.error, '\n') == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
