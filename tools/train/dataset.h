// What a run learns from and what it is tested on.
#pragma once

#include "tools/train/examples.h"

#include <cstdint>

namespace tensorplay::train {

// Training and test rows, apart from each other, inputs scaled by the same number.
struct Dataset {
  Examples training;
  Examples test;
  int class_count = 0;  // classes are 0 ... class_count - 1 in both
};

// Divides `all` at random: a fifth of the rows (at least one) for the test, the rest for training.
// Inputs are divided by the greatest magnitude among the training rows, so that non-negative ones
// there lie in 0..1. The same rows and seed, the same dataset, order included.
// Throws InvalidArgument for fewer than two rows.
Dataset divide(const Examples& all, std::uint64_t seed);

}  // namespace tensorplay::train
