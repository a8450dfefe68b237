// The fuzzers' inputs without a fuzzer: those that they begin with, and some made of them by
// chance. For every compiler and sanitizer.

#include "tests/fuzz/group_input.h"
#include "tests/fuzz/segment_input.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace tensorplay::fuzz {
namespace {

using Input = std::vector<std::uint8_t>;

// Some bytes changed, a piece of another input put somewhere.
Input mixed(Input input, const Input& other, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  const auto begin = other.begin() + static_cast<std::ptrdiff_t>(below(other.size()));
  input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1)), begin,
               other.end());
  for (std::size_t changes = below(6); changes > 0; --changes) {
    input[below(input.size())] = static_cast<std::uint8_t>(random());
  }
  return input;
}

void run_all(const std::vector<Input>& seeds, const std::function<void(Bytes)>& run) {
  for (const Input& seed : seeds) run(seed);
  const auto seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < end) {
    const Input& one = seeds[random() % seeds.size()];
    run(mixed(one, seeds[random() % seeds.size()], random));
  }
}

BOOST_AUTO_TEST_SUITE(inputs)

BOOST_AUTO_TEST_CASE(no_file_under_a_segment_s_name_does_harm) {
  run_all(segment_seeds(), open_segment_of);
}

BOOST_AUTO_TEST_CASE(no_word_of_another_rank_does_harm) {
  run_all(group_seeds(), drive_group_by);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::fuzz
