#include "tools/train/summary.h"

#include <fmt/core.h>

namespace tensorplay::train {
namespace {

std::string epoch_table(const RunReport& report) {
  std::string table = "epoch    training loss  accuracy        test loss  accuracy\n";
  for (const EpochResult& result : report.epochs) {
    table += fmt::format("{:5}    {:13.4f}  {:8.4f}    {:13.4f}  {:8.4f}\n", result.epoch,
                         result.training_loss, result.training_accuracy, result.test_loss,
                         result.test_accuracy);
  }
  return table;
}

std::string rank_table(const RunReport& report) {
  std::string table =
      "rank    rows  batches    iterations  shadowed   waiting      joined at  checksum\n";
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankAccount& account = report.ranks[rank];
    const std::string joined =
        fmt::format("{} of {}", account.joined_at, report.epoch_iterations());
    table += fmt::format("{:4}  {:6}  {:7}    {:10}  {:8}  {:6.3f} s  {:>13}  {}\n", rank,
                         account.row_count, account.batch_count, account.iterations,
                         account.shadowed, std::chrono::duration<double>(account.waiting).count(),
                         joined, checksum_text(account.checksum));
  }
  return table;
}

std::string other_models(const RunReport& report) {
  std::string ranks;
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    if (report.ranks[rank].checksum == report.ranks[0].checksum) continue;
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
  }
  return ranks;
}

}  // namespace

std::string verdict(const RunReport& report) {
  const std::string accuracy =
      fmt::format("test accuracy {:.3f}, ", report.epochs.back().test_accuracy);
  if (!report.checksums_equal()) {
    return accuracy + "CHECKSUMS DIFFER from rank 0's on rank(s) " + other_models(report);
  }
  if (report.ranks.size() == 1) return accuracy + "1 checksum";
  return accuracy + fmt::format("{} equal checksums", report.ranks.size());
}

std::string summary(const RunReport& report) {
  return fmt::format(
      "\n{}\nrows and batches are those of one epoch, joined at the iteration of the last one; "
      "the rest is the whole run's\n{}\n{}\n",
      epoch_table(report), rank_table(report), verdict(report));
}

}  // namespace tensorplay::train
