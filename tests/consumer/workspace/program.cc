// What a user's first program may look like: public headers only, ranks by fork, and a sum whose
// ranks run out of inputs at different times.

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/multiprocessing/spawn.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace {

using tensorplay::distributed::ProcessGroup;
namespace algorithms = tensorplay::distributed::algorithms;

class Counter : public algorithms::Joinable {
 public:
  explicit Counter(const ProcessGroup& group) : group_(group) {}
  void count() {
    algorithms::Join::notify_join_context(*this);
    std::int64_t one = 1;
    group_.all_reduce(std::span(&one, 1));
    total += one;
  }
  std::unique_ptr<algorithms::JoinHook> join_hook(const algorithms::JoinKwargs&) override {
    return std::make_unique<algorithms::JoinHook>();
  }
  ProcessGroup& join_process_group() override { return group_; }

  std::int64_t total = 0;

 private:
  ProcessGroup group_;
};

// Rank r counts 3 + r times: 2 ranks three times, then rank 1 alone.
void count_unevenly(ProcessGroup& group) {
  Counter counter(group);
  algorithms::with_join({counter}, {}, [&] {
    for (int i = 0; i < 3 + group.rank(); ++i) counter.count();
  });
  const std::int64_t expected = group.rank() == 0 ? 6 : 7;
  if (counter.total != expected) {
    throw std::runtime_error("counted " + std::to_string(counter.total));
  }
}

}  // namespace

int main() {
  try {
    tensorplay::multiprocessing::spawn(2, count_unevenly);
    std::puts("two ranks counted");
    return 0;
  } catch (const tensorplay::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
