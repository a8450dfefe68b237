#include "tools/train/dataset.h"

#include "tools/train/seeded_random.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <span>

namespace tensorplay::train {

Dataset divide(const Examples& all, std::uint64_t seed) {
  if (all.count() < 2) {
    throw InvalidArgument(
        "the data has one row only; one to train with and one to test are the least");
  }
  const std::vector<std::size_t> order = shuffled(all.count(), SeededRandom(seed, Purpose::split));
  const std::size_t test_count = std::max<std::size_t>(1, all.count() / 5);
  const auto chosen = std::span(order);
  Dataset dataset{all.rows(chosen.subspan(test_count)), all.rows(chosen.first(test_count)),
                  *std::max_element(all.classes.begin(), all.classes.end()) + 1};
  const float greatest = dataset.training.inputs.cwiseAbs().maxCoeff();
  if (greatest > 0) {
    dataset.training.inputs /= greatest;
    dataset.test.inputs /= greatest;
  }
  return dataset;
}

}  // namespace tensorplay::train
