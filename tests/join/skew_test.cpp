// A joined rank warns when the others are far ahead of it.

#include "tests/join/joinables.h"
#include "tests/worlds/captured_stderr.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::CapturedStderr;
using worlds::run_world;
using worlds::World;

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) {
    ++count;
    at = std::min(text.find('\n', at), text.size());
  }
  return count;
}

// What is written to stderr when rank 1 of two has `ahead` inputs and rank 0 none.
template <typename Model>
std::string warnings(World world, int ahead, std::int64_t threshold) {
  CapturedStderr captured;
  const auto result = run_world(world, 2, [=](ProcessGroup& group) {
    Model model(group);
    with_join({model}, {.skew_warning_threshold = threshold}, [&] {
      for (int i = 0; i < (group.rank() == 1 ? ahead : 0); ++i) model.use();
    });
    return std::string();
  });
  const std::string text = captured.text();
  BOOST_TEST(result.findings() == "");
  return text;
}

class Sleeper : public Counter {
 public:
  using Counter::Counter;
  void use() { count(); }
};

BOOST_AUTO_TEST_SUITE(skew)

TP_WORLD_TEST(no_warning_up_to_the_threshold) {
  BOOST_TEST(warnings<Sleeper>(world, 10, 10) == "");
  BOOST_TEST(warnings<AllReducer>(world, 10, 10) == "");
}

TP_WORLD_TEST(one_warning_above_the_threshold_names_the_rank) {
  for (const std::string& text :
       {warnings<Sleeper>(world, 40, 10), warnings<AllReducer>(world, 40, 10)}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(lines_with(text, "skew") == 1u);
      BOOST_TEST(lines_with(text, "ank 0") == 1u);
      BOOST_TEST(text.find("10") != std::string::npos);
    }
  }
}

TP_WORLD_TEST(the_threshold_is_a_thousand_unless_said_otherwise) {
  BOOST_TEST(JoinOptions{}.skew_warning_threshold == 1000);
  BOOST_TEST(warnings<Sleeper>(world, 1'000, JoinOptions{}.skew_warning_threshold) == "");
  BOOST_TEST(warnings<Sleeper>(world, 1'100, JoinOptions{}.skew_warning_threshold) != "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
