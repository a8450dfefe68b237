// Trainings drawn at random, compared with a serial one to the bit.

#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <optional>
#include <random>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::JoinOptions;
using worlds::Findings;
using worlds::kSanitized;
using worlds::run_world;
using worlds::seed_of_test;

// What every rank knows of a training before it begins.
struct Script {
  std::vector<std::size_t> counts;  // of the parameters
  std::vector<int> inputs;          // of each rank
  std::size_t bucket_bytes = 0;
  bool by_initial_world_size = true;
  bool follow = false;
  std::uint32_t seed = 0;

  int world_size() const { return static_cast<int>(inputs.size()); }
  int iterations() const { return *std::max_element(inputs.begin(), inputs.end()); }
  bool is_active(int rank, int iteration) const {
    return iteration < inputs[static_cast<std::size_t>(rank)];
  }
  // A third of the iterations is accumulated, never the last one.
  bool synchronizes(int iteration) const {
    return iteration == iterations() - 1 || draw(iteration, 0, 0) % 3 != 0;
  }
  bool uses(int rank, int iteration, std::size_t parameter) const {
    return draw(iteration, rank + 1, parameter + 1) % 4 != 0;
  }

 private:
  std::uint32_t draw(int iteration, int rank, std::size_t parameter) const {
    std::seed_seq mixed = {seed, static_cast<std::uint32_t>(iteration),
                           static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(parameter)};
    std::uint32_t result[1];
    mixed.generate(result, result + 1);
    return result[0];
  }
};

std::ostream& operator<<(std::ostream& out, const Script& script) {
  out << "inputs";
  for (int inputs : script.inputs) out << ' ' << inputs;
  return out << ", " << script.counts.size() << " parameters, buckets of " << script.bucket_bytes
             << " bytes, by initial world size " << script.by_initial_world_size << ", follow "
             << script.follow << ", seed " << script.seed;
}

Script draw_script(std::mt19937& random) {
  Script script;
  script.counts.resize(random() % 6);
  for (std::size_t& count : script.counts) count = random() % 5 == 0 ? 0 : random() % 700;
  script.inputs.resize(1 + random() % 4);
  for (int& inputs : script.inputs) inputs = static_cast<int>(random() % 7);
  script.bucket_bytes = random() % 4000;
  script.by_initial_world_size = random() % 2 == 0;
  script.follow = random() % 2 == 0;
  script.seed = static_cast<std::uint32_t>(random());
  return script;
}

// One element of one parameter's gradient on one rank, as it accumulates.
struct Cell {
  float gradient = 0;
  bool present = false;
};

// What the gradients of one element are on all ranks, iteration by iteration: all ranks in one
// loop.
class SerialElement {
 public:
  SerialElement(const Script& script, std::size_t parameter, std::size_t element)
      : script_(script), parameter_(parameter), element_(element), cells_(script.inputs.size()) {}

  void iterate(int iteration) {
    float sum = 0;
    int active = 0;
    int present = 0;
    for (int rank = 0; rank < script_.world_size(); ++rank) {
      if (!script_.is_active(rank, iteration)) continue;
      Cell& cell = cells_[static_cast<std::size_t>(rank)];
      if (script_.uses(rank, iteration, parameter_)) {
        cell.gradient += gradient_element(rank, iteration, parameter_, element_);
        cell.present = true;
      }
      const float contribution = cell.present ? cell.gradient : 0;
      sum = active == 0 ? contribution : sum + contribution;
      ++active;
      if (cell.present) ++present;
    }
    if (script_.synchronizes(iteration)) deliver(iteration, sum, active, present);
  }
  float gradient(int rank) const { return cells_[static_cast<std::size_t>(rank)].gradient; }

 private:
  void deliver(int iteration, float sum, int active, int present) {
    const int divisor = script_.by_initial_world_size ? script_.world_size() : active;
    for (int rank = 0; rank < script_.world_size(); ++rank) {
      Cell& cell = cells_[static_cast<std::size_t>(rank)];
      const bool is_active = script_.is_active(rank, iteration);
      if (!is_active && !script_.follow) continue;
      if (present > 0) cell.gradient = sum / static_cast<float>(divisor);
      if (present == 0 && !is_active) cell.gradient = 0;
      if (is_active) cell.present = false;
    }
  }

  const Script& script_;
  std::size_t parameter_;
  std::size_t element_;
  std::vector<Cell> cells_;
};

void iterate(const Script& script, DistributedDataParallel& ddp, SmallModel& model, int rank,
             int iteration) {
  std::optional<DistributedDataParallel::NoSync> guard;
  if (!script.synchronizes(iteration)) guard.emplace(ddp);
  ddp.forward();
  for (std::size_t p = model.gradients.size(); p-- > 0;) {
    if (!script.uses(rank, iteration, p)) {
      ddp.gradient_unused(p);
      continue;
    }
    for (std::size_t i = 0; i < model.gradients[p].size(); ++i) {
      model.gradients[p][i] += gradient_element(rank, iteration, p, i);
    }
    if (p % 2 == 0) ddp.gradient_ready(p);
  }
  ddp.synchronize();
}

void compare(Findings& found, const Script& script, const SmallModel& model, int rank,
             int iteration) {
  for (std::size_t p = 0; p < script.counts.size(); ++p) {
    for (std::size_t i = 0; i < script.counts[p]; i += 1 + i) {
      SerialElement serial(script, p, i);
      for (int past = 0; past <= iteration; ++past) serial.iterate(past);
      found.equal(model.gradients[p][i], serial.gradient(rank),
                  "iteration " + std::to_string(iteration) + ": gradient " + std::to_string(p) +
                      "[" + std::to_string(i) + "]");
    }
  }
}

std::string train(const Script& script, ProcessGroup& group) {
  Findings found;
  const int rank = group.rank();
  SmallModel model(script.counts, {3});
  DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group,
                              {.bucket_bytes = script.bucket_bytes});
  {
    Join join({ddp}, {.kwargs = {{"divide_by_initial_world_size", script.by_initial_world_size},
                                 {"follow", script.follow}}});
    for (int i = 0; script.is_active(rank, i); ++i) {
      iterate(script, ddp, model, rank, i);
      compare(found, script, model, rank, i);
    }
  }
  compare(found, script, model, rank, script.iterations() - 1);
  return found.text();
}

BOOST_AUTO_TEST_SUITE(random_training)

TP_WORLD_TEST(gradients_are_those_of_a_serial_training) {
  std::mt19937 random(static_cast<unsigned>(seed_of_test("random_training")));
  for (int round = 0; round < (kSanitized ? 10 : 60); ++round) {
    const Script script = draw_script(random);
    const auto result = run_world(world, script.world_size(),
                                  [&](ProcessGroup& group) { return train(script, group); });
    BOOST_TEST_CONTEXT(script) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
