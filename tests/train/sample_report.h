// A report as a run of two ranks might give it.
#pragma once

#include "tools/train/run_report.h"

namespace tensorplay::train {

inline RunReport sample_report() {
  RunReport report;
  report.settings.data_path = "digits.csv";
  report.settings.shares = {2, 1};
  report.training_rows = 48;
  report.test_rows = 12;
  report.epochs = {{1, 2.25, 2.5, 0.25, 0.125}, {2, 1.5, 1.75, 0.75, 0.5}};
  report.ranks.resize(2);
  report.ranks[0] = {.row_count = 32,
                     .batch_count = 2,
                     .iterations = 4,
                     .joined_at = 2,
                     .checksum = 0xfedcba9876543210};
  report.ranks[1] = {.row_count = 16,
                     .batch_count = 1,
                     .iterations = 2,
                     .shadowed = 2,
                     .joined_at = 1,
                     .waiting = std::chrono::milliseconds(1500),
                     .checksum = 0xfedcba9876543210};
  report.trained_rows = 96;
  report.last_joiners = {0};
  return report;
}

}  // namespace tensorplay::train
