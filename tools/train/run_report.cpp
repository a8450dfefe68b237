#include "tools/train/run_report.h"

#include <fmt/core.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace tensorplay::train {
namespace {

using Json = nlohmann::ordered_json;

Json options_json(const Settings& settings) {
  return {{"data", settings.data_path},
          {"shards", settings.shares},
          {"seed", settings.seed},
          {"epochs", settings.epochs},
          {"batch", settings.batch_rows},
          {"hidden", settings.hidden},
          {"optimizer", name(settings.optimizer)},
          {"learning_rate", settings.learning_rate},
          {"momentum", settings.momentum},
          {"weight_decay", settings.weight_decay},
          {"bucket_kib", settings.bucket_kib},
          {"divide_by", name(settings.divisor)},
          {"throw_on_early_termination", settings.throw_on_early_termination},
          {"survive", settings.survive},
          {"kill", settings.kill_count},
          {"kill_seed", settings.kill_seed ? Json(*settings.kill_seed) : Json()}};
}

Json data_json(const RunReport& report) {
  return {{"training_rows", report.training_rows},
          {"test_rows", report.test_rows},
          {"trained_rows", report.trained_rows},
          {"inputs", report.input_count},
          {"classes", report.class_count}};
}

Json epoch_json(const EpochResult& result) {
  return {{"epoch", result.epoch},
          {"training_loss", result.training_loss},
          {"test_loss", result.test_loss},
          {"training_accuracy", result.training_accuracy},
          {"test_accuracy", result.test_accuracy}};
}

Json rank_json(std::size_t rank, const RankAccount& account) {
  return {{"rank", rank},
          {"rows", account.row_count},
          {"batches", account.batch_count},
          {"iterations", account.iterations},
          {"shadowed", account.shadowed},
          {"joined_at", account.joined_at},
          {"waiting_s", std::chrono::duration<double>(account.waiting).count()},
          {"checksum", account.is_lost ? Json() : Json(checksum_text(account.checksum))}};
}

Json loss_json(const Loss& loss) {
  return {{"rank", loss.rank}, {"epoch", loss.epoch}, {"where", loss.where}};
}

Json verdict_json(const RunReport& report) {
  Json verdict = {{"checksums_equal", report.checksums_equal()},
                  {"survivors", report.survivors()},
                  {"last_joiners", report.last_joiners}};
  if (!report.epochs.empty()) verdict["test_accuracy"] = report.epochs.back().test_accuracy;
  return verdict;
}

}  // namespace

std::int64_t RunReport::epoch_iterations() const {
  std::int64_t most = 0;
  for (const RankAccount& account : ranks) {
    if (!account.is_lost) most = std::max(most, account.joined_at);
  }
  return most;
}

std::vector<int> RunReport::survivors() const {
  std::vector<int> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].is_lost) found.push_back(static_cast<int>(rank));
  }
  return found;
}

bool RunReport::checksums_equal() const {
  const std::vector<int> found = survivors();
  return std::ranges::all_of(found, [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)].checksum ==
           ranks[static_cast<std::size_t>(found.front())].checksum;
  });
}

std::string checksum_text(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

std::string to_json(const RunReport& report) {
  Json json = {{"options", options_json(report.settings)},
               {"data", data_json(report)},
               {"epochs", Json::array()},
               {"ranks", Json::array()},
               {"losses", Json::array()},
               {"verdict", verdict_json(report)}};
  for (const EpochResult& result : report.epochs) json["epochs"].push_back(epoch_json(result));
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    json["ranks"].push_back(rank_json(rank, report.ranks[rank]));
  }
  for (const Loss& loss : report.losses) json["losses"].push_back(loss_json(loss));
  // A path may hold bytes that aren't UTF-8: shown as replacement characters, never an error.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tensorplay::train
