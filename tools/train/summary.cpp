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
        account.is_lost ? "-"
                        : fmt::format("{} of {}", account.joined_at, report.epoch_iterations());
    table += fmt::format("{:4}  {:6}  {:7}    {:10}  {:8}  {:6.3f} s  {:>13}  {}\n", rank,
                         account.row_count, account.batch_count, account.iterations,
                         account.shadowed, std::chrono::duration<double>(account.waiting).count(),
                         joined, account.is_lost ? "lost" : checksum_text(account.checksum));
  }
  return table;
}

std::string loss_list(const RunReport& report) {
  if (report.losses.empty()) return {};
  std::string list;
  for (const Loss& loss : report.losses) {
    list += fmt::format("\nrank {} was lost in epoch {}, {}", loss.rank, loss.epoch, loss.where);
  }
  return list + fmt::format("\ntrained on {} of {} rows\n", report.trained_rows,
                            report.training_rows * report.epochs.size());
}

std::string other_models(const RunReport& report) {
  const std::vector<int> survivors = report.survivors();
  const auto checksum = [&](int rank) {
    return report.ranks[static_cast<std::size_t>(rank)].checksum;
  };
  std::string others;
  for (int rank : survivors) {
    if (checksum(rank) == checksum(survivors.front())) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", rank);
  }
  return fmt::format("CHECKSUMS DIFFER from rank {}'s on rank(s) {}", survivors.front(), others);
}

}  // namespace

std::string verdict(const RunReport& report) {
  const std::string accuracy =
      fmt::format("test accuracy {:.3f}, ", report.epochs.back().test_accuracy);
  if (!report.checksums_equal()) {
    return accuracy + other_models(report);
  }
  const std::size_t count = report.survivors().size();
  if (count == 1) return accuracy + "1 checksum";
  return accuracy + fmt::format("{} equal checksums", count);
}

std::string summary(const RunReport& report) {
  return fmt::format(
      "\n{}\nrows and batches are those of the last epoch, joined at its iteration; the rest is "
      "the whole run's\n{}{}\n{}\n",
      epoch_table(report), rank_table(report), loss_list(report), verdict(report));
}

}  // namespace tensorplay::train
