// A job of ranks that are started apart, for one test.
#pragma once

#include "lib/shm/segment.h"

#include <tensorplay/distributed/process_group_options.h>

#include <sys/mman.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

namespace tensorplay::distributed {

inline constexpr std::size_t kArenaBytes = std::size_t{1} << 20;

// A name that no other job has, and the options of its ranks. At the end nothing lies there.
class TestJob {
 public:
  TestJob() {
    // Process numbers would not do: sandboxes that share /dev/shm have the same ones.
    std::random_device random;
    name_ = "test-" + std::to_string(random()) + "-" + std::to_string(random());
  }
  ~TestJob() {
    BOOST_TEST(!is_there(), path() << " is left");
    remove();
  }
  TestJob(const TestJob&) = delete;
  TestJob& operator=(const TestJob&) = delete;

  std::string file() const { return shm::Segment::name_of(name_); }
  std::string path() const { return "/dev/shm/" + file(); }
  void remove() const { shm_unlink(file().c_str()); }
  bool is_there() const { return access(path().c_str(), F_OK) == 0; }

  ProcessGroupOptions rank(int rank, int world_size,
                           std::chrono::milliseconds timeout = std::chrono::seconds(40)) const {
    return {.rank = rank,
            .world_size = world_size,
            .job_name = name_,
            .timeout = timeout,
            .arena_bytes = kArenaBytes};
  }

  // Until so many ranks have taken their places.
  void await_ranks(std::uint32_t count) const {
    for (int i = 0; i < 30'000; ++i) {
      const auto segment = shm::Segment::open_named(file());
      // Acquire: pairs with the release in Job's constructor.
      if (segment && segment->header().attached_count.load(std::memory_order_acquire) >= count) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    BOOST_ERROR("the first ranks didn't come");
  }

 private:
  std::string name_;
};

}  // namespace tensorplay::distributed
