// However a rank ends, whatever the others do meanwhile: all of them are told soon, all the same.

#include "tests/distributed/told.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tensorplay::distributed {
namespace {

using algorithms::Join;
using algorithms::Joinable;
using algorithms::JoinHook;
using algorithms::JoinKwargs;
using algorithms::with_join;
using worlds::World;
using worlds::WorldResult;
using namespace std::chrono_literals;

constexpr int kForever = 100'000'000;
// Far more than it takes, far less than the group's time-out.
constexpr std::chrono::nanoseconds kSoon = 8s;

// --- Ways to end
// ---------------------------------------------------------------------------------

struct Ending {
  const char* name;
  std::function<void()> act;
  const char* cause;  // as told() tells it
  const char* words;  // in the text

  friend std::ostream& operator<<(std::ostream& out, const Ending& ending) {
    return out << ending.name;
  }
};

[[noreturn]] void throw_bad_batch() {
  throw std::runtime_error("bad batch");
}

void throw_and_catch_nowhere() noexcept {
  throw_bad_batch();
}

const std::vector<Ending> kEndings{
    {"SIGKILL", [] { raise(SIGKILL); }, "killed", "signal 9"},
    {"SIGSEGV", [] { raise(SIGSEGV); }, "killed", "signal 11"},
    {"SIGTERM", [] { raise(SIGTERM); }, "killed", "signal 15"},
    {"abort", [] { std::abort(); }, "killed", "signal 6"},
    {"an_exception_that_leaves_main", throw_and_catch_nowhere, "killed", "signal 6"},
    {"exit_code_3", [] { _exit(3); }, "exited", "code 3"},
    {"exit_code_0", [] { _exit(0); }, "exited", "code 0"},
    {"an_exception_through_the_group", throw_bad_batch, "raised",
     "gave up the group because of an exception"},
};

// Ends this process as it would end without a test around it.
void end_by(const Ending& ending) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int signal : {SIGSEGV, SIGABRT, SIGTERM}) std::signal(signal, SIG_DFL);
  std::set_terminate([] { std::abort(); });
  ending.act();
}

// Kills this process so much later, whatever it does then.
void be_killed_after(std::chrono::microseconds delay) {
  std::signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
  const itimerval once{{0, 0}, {0, static_cast<suseconds_t>(delay.count())}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// All but `failed` were told soon, the same, with all of the words.
void expect_told(const WorldResult& result, std::size_t failed,
                 const std::vector<std::string>& words) {
  const std::string& first = result.ranks[failed == 0 ? 1 : 0].findings;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (rank == failed) continue;
    const auto& outcome = result.ranks[rank];
    BOOST_TEST_CONTEXT("rank " << rank << ": " << outcome.findings) {
      BOOST_TEST(outcome.reported);
      BOOST_TEST(outcome.findings == first);
      for (const std::string& word : words) {
        BOOST_TEST((outcome.findings.find(word) != std::string::npos), "lacks " << word);
      }
      const auto later = outcome.ended_after - result.ranks[failed].ended_after;
      BOOST_TEST((later < kSoon), std::chrono::duration<double>(later).count() << " s later");
    }
  }
}

WorldResult run(int world_size, const worlds::RankBody& body,
                const worlds::WorldOptions& options = {}) {
  return run_world(World::forked_processes, world_size, body, options);
}

// One all_reduce per use; its post hook is a function of the group.
class Counter : public Joinable {
 public:
  using Post = std::function<void(ProcessGroup&)>;
  explicit Counter(ProcessGroup group, Post post = {})
      : group_(std::move(group)), post_(std::move(post)) {}

  void count() {
    Join::notify_join_context(*this);
    add_up(group_, 1, 1);
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<Hook>(*this);
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Counter"; }

 private:
  class Hook : public JoinHook {
   public:
    explicit Hook(Counter& counter) : counter_(counter) {}
    void post_hook(bool) override {
      if (counter_.post_) counter_.post_(counter_.group_);
    }

   private:
    Counter& counter_;
  };

  ProcessGroup group_;
  Post post_;
};

BOOST_AUTO_TEST_SUITE(endings)

BOOST_DATA_TEST_CASE(a_rank_s_end_is_told_by_its_kind, kEndings, ending) {
  const auto result = run(4, [&](ProcessGroup& group) -> std::string {
    if (group.rank() != 1) return told(group, [&] { add_up(group, 1, kForever); });
    add_up(group, 1, 5);
    end_by(ending);
    return "";
  });
  expect_told(result, 1,
              {std::string("rank 1, ") + ending.cause, "rank 1 (pid ", ending.words,
               "all_reduce (sum, float32, 1 element), operation 6"});
}

BOOST_AUTO_TEST_CASE(a_rank_that_gives_up_its_group_early_is_told) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() != 0) return told(group, [&] { add_up(group, 10, kForever); });
    add_up(group, 10, 2);
    return "went home";
  });
  BOOST_TEST(result.ranks[0].findings == "went home");
  expect_told(result, 0, {"rank 0, exited: ", "gave up the group", "operation 3"});
}

BOOST_AUTO_TEST_CASE(a_rank_that_dies_where_nobody_waits_is_told_at_the_next_operation) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 2) raise(SIGKILL);
    std::this_thread::sleep_for(200ms);
    return told(group, [&] { group.barrier(); });
  });
  expect_told(result, 2, {"rank 2, killed: ", "in barrier, operation 1"});
}

// What it had posted before it died counts.
BOOST_AUTO_TEST_CASE(operations_that_a_dead_rank_had_finished_posting_are_completed) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    std::int64_t one = 1;
    if (group.rank() == 1) {
      group.all_reduce_async(std::span(&one, 1));
      raise(SIGKILL);
    }
    std::this_thread::sleep_for(200ms);
    group.all_reduce(std::span(&one, 1));
    return std::to_string(one) + " " + told(group, [&] { group.barrier(); });
  });
  expect_told(result, 1, {"2 rank 1, killed: ", "operation 2"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(moments)

// 0.3 to 80 ms: in the midst of the copying, or close to its begin.
const std::vector<int> kMicroseconds{300, 3'000, 11'000, 27'000, 80'000};

BOOST_DATA_TEST_CASE(in_the_midst_of_staged_operations, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] { add_up(group, 1'500'000, kForever); });
  });
  expect_told(result, 1, {"rank 1, killed: ", "all_reduce (sum, float32, 1500000 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_operations_in_the_arenas, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    const std::span<float> values = group.allocate<float>(2'000'000);
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] {
      for (;;) group.all_reduce(values);
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "all_reduce (sum, float32, 2000000 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_small_operations, kMicroseconds, delay) {
  const auto result = run(4, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 2) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] { add_up(group, 3, kForever); });
  });
  expect_told(result, 2, {"rank 2, killed: ", "all_reduce (sum, float32, 3 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_splits, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] {
      for (;;) group.split(group.rank() % 2, 0);
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "while the group waited for it in all_"});
}

BOOST_AUTO_TEST_CASE(while_the_others_ask_whether_it_is_completed) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) raise(SIGKILL);
    bool in_time = true;
    const std::string text = told(group, [&] {
      Work work = group.barrier_async();
      const auto end = std::chrono::steady_clock::now() + 20s;
      while (in_time && !work.is_completed()) {
        in_time = std::chrono::steady_clock::now() < end;
        std::this_thread::yield();
      }
      if (in_time) work.wait();
    });
    return in_time ? text : "never completed";
  });
  expect_told(result, 1, {"rank 1, killed: ", "in barrier, operation 1"});
}

BOOST_AUTO_TEST_CASE(while_the_others_sleep_joined) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    return told(group, [&] {
      with_join({counter}, {}, [&] {
        counter.count();
        if (group.rank() != 1) return;
        std::this_thread::sleep_for(300ms);
        raise(SIGKILL);
      });
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "rank 1 (pid ", "signal 9"});
}

BOOST_AUTO_TEST_CASE(by_an_exception_in_a_join_loop_while_others_sleep_and_others_go_on) {
  const auto result = run(4, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    const auto loop = [&] {
      for (int i = 0; i < (group.rank() == 0 ? 2 : kForever); ++i) {
        if (group.rank() == 3 && i == 50) throw std::runtime_error("the disk is full");
        counter.count();
      }
    };
    return told(group, [&] { with_join({counter}, {}, loop); });
  });
  expect_told(result, 3, {"rank 3, raised: ", "the disk is full"});
}

BOOST_AUTO_TEST_CASE(in_a_post_hook) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group, [](ProcessGroup& own) {
      add_up(own, 100, 3);
      if (own.rank() == 0) raise(SIGKILL);
      add_up(own, 7, 1);
    });
    return told(group, [&] { with_join({counter}, {}, [&] { counter.count(); }); });
  });
  expect_told(result, 0, {"rank 0, killed: ", "all_reduce (sum, float32, 7 elements)"});
}

BOOST_AUTO_TEST_CASE(in_a_part_of_the_group_whose_other_part_goes_on) {
  const auto result = run(4, [](ProcessGroup& group) -> std::string {
    ProcessGroup half = group.split(group.rank() / 2, 0);
    add_up(half, 10, 3);
    // When this has ended nobody uses the whole group any more before it has failed.
    ProcessGroup same = group.split(0, 0);
    same.barrier();
    if (group.rank() == 3) raise(SIGKILL);
    std::string in_half = "fine";
    if (group.rank() == 2) {
      in_half = told(half, [&] { add_up(half, 10, 1); });
    } else {
      std::this_thread::sleep_for(100ms);
      add_up(half, 10'000, 20);
    }
    return in_half + " | " + told(group, [&] { group.barrier(); });
  });
  for (const std::size_t rank : {0u, 1u}) {
    BOOST_TEST(result.ranks[rank].findings.starts_with("fine | rank 3, killed: rank 3 (pid "),
               result.ranks[rank].findings);
  }
  const std::string& other = result.ranks[2].findings;
  BOOST_TEST(other.starts_with("rank 1, killed: rank 1 (rank 3 of the job) (pid "), other);
  BOOST_TEST((other.find(" | rank 3, killed: ") != std::string::npos), other);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(living_ranks)

BOOST_AUTO_TEST_CASE(a_mismatch_is_the_same_on_all_ranks) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    add_up(group, 4, 3);
    return told(group, [&] { add_up(group, group.rank() == 1 ? 5 : 4, 1); });
  });
  expect_told(result, 1,
              {"CollectiveMismatch: ", "operation 4", "rank 1 calls all_reduce (sum, float32, 5",
               " all_reduce (sum, float32, 4 elements)"});
  BOOST_TEST(result.ranks[1].findings == result.ranks[0].findings);
}

// The late rank gets the others' Timeout when it comes.
BOOST_AUTO_TEST_CASE(a_rank_that_is_late_is_named_and_told_itself) {
  const auto result = run(3,
                          [](ProcessGroup& group) -> std::string {
                            add_up(group, 4, 2);
                            if (group.rank() == 2) std::this_thread::sleep_for(4s);
                            return told(group, [&] { group.barrier(); });
                          },
                          {.timeout = 1500ms});
  expect_told(result, 2,
              {"Timeout: ", "in barrier, operation 3 for rank 2", "rank 2 lives (pid ", "sleeping",
               "its last collective here was operation 2"});
  BOOST_TEST(result.ranks[2].findings == result.ranks[0].findings);
}

// Stopped until somebody has had the Timeout, then it goes on.
BOOST_AUTO_TEST_CASE(a_stopped_rank_is_named_as_such) {
  const auto result = run(3,
                          [](ProcessGroup& group) -> std::string {
                            std::int32_t pid = getpid();
                            group.broadcast(std::span(&pid, 1), 1);
                            if (group.rank() == 1) raise(SIGSTOP);
                            const std::string text = told(group, [&] { group.barrier(); });
                            if (group.rank() == 0) kill(pid, SIGCONT);
                            return text;
                          },
                          {.timeout = 1500ms});
  expect_told(result, 1,
              {"Timeout: ", "in barrier, operation 2 for rank 1", "stopped by a signal",
               "its last collective here was operation 1"});
  BOOST_TEST(result.ranks[1].findings == result.ranks[0].findings);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
