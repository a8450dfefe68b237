// What a run has to tell when it has ended, and its form in JSON.
#pragma once

#include "tools/train/settings.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::train {

// How good the model was after an epoch. Losses are means over the rows, accuracies are shares,
// 0..1.
struct EpochResult {
  int epoch = 0;  // 1, 2, ...
  double training_loss = 0;
  double test_loss = 0;
  double training_accuracy = 0;
  double test_accuracy = 0;
};

// What one rank did.
struct RankAccount {
  std::size_t row_count = 0;    // of its last epoch
  std::size_t batch_count = 0;  // of its last epoch
  std::int64_t iterations = 0;  // in the whole run, as counted by the Join contexts
  std::int64_t shadowed = 0;    // in the whole run: iterations that others made after it had joined
  std::int64_t joined_at = 0;   // in its last epoch: iterations before it joined, or was lost
  std::chrono::nanoseconds waiting{0};  // in the whole run: from joining to the end of the context
  std::uint64_t checksum = 0;           // of the final model as this rank holds it
  bool is_lost = false;                 // died before it could tell its checksum
};

// A rank that has died, and when.
struct Loss {
  int rank = 0;
  int epoch = 0;      // 1, 2, ...
  std::string where;  // "in iteration 17", "while the epoch was measured"
};

struct RunReport {
  Settings settings;
  std::size_t training_rows = 0;
  std::size_t test_rows = 0;
  std::size_t input_count = 0;
  std::size_t class_count = 0;
  std::vector<EpochResult> epochs;  // one per epoch, in order
  std::vector<RankAccount> ranks;   // one per rank
  std::vector<Loss> losses;         // in the order in which they were found
  // In the whole run, counted whenever it was trained on. Of the last batch of a rank that has died
  // nobody knows whether it came to anything; it is counted.
  std::size_t trained_rows = 0;
  std::vector<int> last_joiners;  // of the last epoch, ascending

  // Iterations of the last epoch: those of the ranks that joined last and live.
  std::int64_t epoch_iterations() const;
  // The ranks that have come to the end, ascending; and whether they hold the same model.
  std::vector<int> survivors() const;
  bool checksums_equal() const;
};

// A checksum as people compare it: 16 hexadecimal digits.
std::string checksum_text(std::uint64_t checksum);

// The whole report as one JSON object, indented, ending in a line feed: "options", "data",
// "epochs", "ranks", "losses" and "verdict". Times are in seconds, checksums texts (a JSON number
// can't hold them).
std::string to_json(const RunReport& report);

}  // namespace tensorplay::train
