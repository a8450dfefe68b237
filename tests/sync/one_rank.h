// The place of one rank, and children that take it.
#pragma once

#include "lib/shm/segment.h"
#include "lib/sync/liveness.h"
#include "tests/shm/child_process.h"

#include <unistd.h>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace tensorplay::sync {

// Whether it comes true within 20 s.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

inline bool becomes(const shm::Segment& segment, Vitality wanted) {
  return comes_true([&] { return vitality(segment, 0) == wanted; });
}

struct OneRank {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 1});
  shm::Life& life = segment->rank_block(0).life;

  // A child that claims the place, and then does as `body` says.
  std::unique_ptr<testing::ChildProcess> start(const std::function<void()>& body) {
    return std::make_unique<testing::ChildProcess>([&]() -> std::string {
      if (!claim_life(*segment, 0)) return "the place is taken";
      body();
      return "";
    });
  }
};

[[noreturn]] inline void stay() {
  while (true) pause();
}

}  // namespace tensorplay::sync
