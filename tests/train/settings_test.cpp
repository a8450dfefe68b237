#include "tools/train/settings.h"

#include "tests/train/thrown_message.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace tensorplay::train {
namespace {

using Arguments = std::vector<std::string>;

Settings parsed(Arguments arguments) {
  arguments.insert(arguments.begin(), {"--data", "d.csv"});
  return parse_settings(arguments);
}

std::string rejection(const Arguments& arguments) {
  return thrown_message([&] { parsed(arguments); });
}

BOOST_AUTO_TEST_SUITE(settings)

BOOST_AUTO_TEST_CASE(the_data_is_all_that_must_be_given) {
  const Settings settings = parsed({});
  BOOST_TEST(settings.data_path == "d.csv");
  BOOST_TEST(settings.shares.empty());
  BOOST_TEST(settings.hidden == 128u);
  BOOST_TEST(settings.batch_rows == 16u);
  BOOST_TEST(name(settings.optimizer) == "sgd");
  BOOST_TEST(settings.learning_rate == 0.1);
  BOOST_TEST(settings.momentum == 0.9);
  BOOST_TEST(name(settings.divisor) == "initial");
  BOOST_TEST(!settings.throw_on_early_termination);
  BOOST_TEST(!settings.survive);
  BOOST_TEST(settings.kill_count == 0);
  BOOST_TEST(!settings.kill_seed.has_value());
  BOOST_TEST(thrown_message([] { parse_settings({}); }) == "--data is required (see train --help)");
}

BOOST_AUTO_TEST_CASE(of_an_option_given_twice_the_later_counts) {
  const Settings settings = parsed({"--shards", "40,60", "--epochs", "3", "--shards", "70,30"});
  BOOST_TEST(settings.shares == std::vector<double>({70, 30}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_option_arrives) {
  const Settings settings = parsed({"--shards",
                                    "40,30.5,0",
                                    "--seed=9",
                                    "--epochs",
                                    "3",
                                    "--batch",
                                    "8",
                                    "--hidden",
                                    "32",
                                    "--optimizer",
                                    "adamw",
                                    "--learning-rate",
                                    "0.5",
                                    "--weight-decay",
                                    "0.25",
                                    "--bucket-kib",
                                    "4",
                                    "--divide-by",
                                    "active",
                                    "--throw-on-early-termination",
                                    "--survive",
                                    "--kill",
                                    "2",
                                    "--kill-seed",
                                    "18446744073709551615",
                                    "--out",
                                    "a",
                                    "--plot",
                                    "b",
                                    "--model",
                                    "c"});
  BOOST_TEST(settings.shares == (std::vector<double>{40, 30.5, 0}));
  BOOST_TEST(settings.seed == 9u);
  BOOST_TEST(settings.epochs == 3);
  BOOST_TEST(settings.batch_rows == 8u);
  BOOST_TEST(settings.hidden == 32u);
  BOOST_TEST(name(settings.optimizer) == "adamw");
  BOOST_TEST(settings.learning_rate == 0.5);
  BOOST_TEST(settings.weight_decay == 0.25);
  BOOST_TEST(settings.bucket_kib == 4u);
  BOOST_TEST(name(settings.divisor) == "active");
  BOOST_TEST(settings.throw_on_early_termination);
  BOOST_TEST(settings.survive);
  BOOST_TEST(settings.kill_count == 2);
  BOOST_TEST(settings.kill_seed.value() == UINT64_MAX);
  BOOST_TEST(settings.report_path + settings.plot_path + settings.model_path == "abc");
}

BOOST_AUTO_TEST_CASE(the_learning_rate_depends_on_the_optimizer_unless_given) {
  BOOST_TEST(parsed({"--optimizer", "adam"}).learning_rate == 0.002);
  BOOST_TEST(parsed({"--optimizer", "adam"}).momentum == 0.0);
  BOOST_TEST(parsed({"--optimizer", "adam", "--learning-rate", "0"}).learning_rate == 0.0);
  BOOST_TEST(parsed({"--momentum", "0"}).momentum == 0.0);
}

BOOST_AUTO_TEST_CASE(unknown_options_and_words_are_told) {
  BOOST_TEST(rejection({"--epoch", "3"}).find("--epoch") != std::string::npos);
  BOOST_TEST(rejection({"more"}).find("more") != std::string::npos);
  BOOST_TEST(rejection({"--epochs"}).find("--epochs") != std::string::npos);
  BOOST_TEST(rejection({"--optimizer", "sdg"}).find("sdg") != std::string::npos);
  BOOST_TEST(rejection({"--divide-by", "all"}).find("all") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(numbers_out_of_range_are_told_with_the_range) {
  BOOST_TEST(rejection({"--batch", "0"}) ==
             "--batch: '0' isn't a whole number from 1 to 1000000000 (see train --help)");
  for (const Arguments& arguments : {Arguments{"--batch", "-1"},
                                     {"--batch", "x"},
                                     {"--batch", "1.5"},
                                     {"--epochs", "0"},
                                     {"--epochs", "99999999999"},
                                     {"--hidden", "0"},
                                     {"--hidden", "1e9"},
                                     {"--seed", "-1"},
                                     {"--seed", "x"},
                                     {"--kill", "-1"},
                                     {"--kill", "256"},
                                     {"--kill-seed", "-1"},
                                     {"--bucket-kib", "0"},
                                     {"--learning-rate", "nan"},
                                     {"--learning-rate", "-1"},
                                     {"--learning-rate", "inf"},
                                     {"--momentum", "1"},
                                     {"--momentum", "nan"},
                                     {"--weight-decay", "-0.1"},
                                     {"--batch", ""}}) {
    const std::string message = rejection(arguments);
    BOOST_TEST(message.find(arguments[0]) != std::string::npos, message);
    BOOST_TEST(std::ranges::count(message, '\n') == 0);
  }
}

BOOST_AUTO_TEST_CASE(shards_that_are_none_are_told) {
  BOOST_TEST(rejection({"--shards", "40,x"}) ==
             "--shards 40,x: 'x' isn't a number; give one number per rank, as in 40,30,20,10");
  BOOST_TEST(rejection({"--shards", "40,-1"}) ==
             "--shards 40,-1: '-1' is negative; the least is 0, a rank without rows");
  BOOST_TEST(rejection({"--shards", "0,0"}) ==
             "--shards 0,0: all are 0; at least one rank needs rows to train on");
  for (const char* shards : {"40,", ",40", "40,,30", "nan", "inf,1", "1e999", "40;30", "40 30"}) {
    BOOST_TEST(rejection({"--shards", shards}).find("isn't a number") != std::string::npos, shards);
  }
  BOOST_TEST(rejection({"--shards", ""}) != "nothing thrown");
}

BOOST_AUTO_TEST_CASE(momentum_is_for_sgd) {
  BOOST_TEST(rejection({"--optimizer", "adam", "--momentum", "0.5"}) ==
             "--momentum is for sgd; leave it out with --optimizer adam");
}

BOOST_AUTO_TEST_CASE(shards_must_be_as_many_as_ranks) {
  const Settings settings = parsed({"--shards", "40,30,20"});
  require_fit(settings, 3);
  require_fit(parsed({}), 17);
  BOOST_TEST(thrown_message([&] { require_fit(settings, 4); }) ==
             "--shards has 3 shares for 4 ranks; give one per rank, or start 3 ranks");
}

BOOST_AUTO_TEST_CASE(one_rank_must_survive) {
  BOOST_TEST(thrown_message([] {
               require_fit(parsed({"--kill", "1"}), 4);
             }) ==
             "--kill 1: the others would end, too; start by tprun --survive, or add --survive");
  BOOST_TEST(thrown_message([] {
               require_fit(parsed({"--survive", "--kill", "1"}), 1);
             }) == "--kill 1 of 1 rank: one has to survive; start more ranks");
  require_fit(parsed({"--survive", "--kill", "3"}), 4);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_written_are_told_before_the_training) {
  for (const char* option : {"--out", "--plot", "--model"}) {
    const Settings settings = parsed({option, "/no/such/folder/file"});
    BOOST_TEST(thrown_message([&] {
                 require_fit(settings, 1);
               }).starts_with(std::string(option) + " '/no/such/folder/file' can't be written"));
  }
}

BOOST_AUTO_TEST_CASE(help_names_every_option) {
  BOOST_TEST(asks_for_help({"--epochs", "1", "--help"}));
  BOOST_TEST(asks_for_help({"-h"}));
  BOOST_TEST(!asks_for_help({"--epochs", "1"}));
  const std::string help = help_text();
  for (const char* option : {"--data", "--shards", "--epochs", "--out", "--plot", "--model",
                             "--survive", "--kill", "--kill-seed"}) {
    BOOST_TEST(help.find(option) != std::string::npos, option);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
