#include "lib/multiprocessing/run_children.h"

#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::multiprocessing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Words that parent and children share.
class SharedWords {
 public:
  static constexpr std::size_t kCount = 16;

  SharedWords()
      : words_(static_cast<std::atomic<int>*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedWords() { ::munmap(words_, kBytes); }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;

  std::atomic<int>& operator[](std::size_t index) const { return words_[index]; }

 private:
  static constexpr std::size_t kBytes = kCount * sizeof(std::atomic<int>);
  std::atomic<int>* words_;
};

[[noreturn]] void sleep_for_ever() {
  while (true) std::this_thread::sleep_for(seconds(1));
}

bool has_children() {
  return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

struct NothingLeft {
  std::size_t descriptors = open_descriptors();
  ~NothingLeft() {
    BOOST_TEST(!has_children());
    BOOST_TEST(open_descriptors() == descriptors);
  }
};

void raise_peer_failure(int rank) {
  throw PeerFailure(rank, PeerFailure::Cause::raised, "rank " + std::to_string(rank) + " failed");
}

BOOST_AUTO_TEST_SUITE(run_children_suite)

BOOST_FIXTURE_TEST_CASE(each_child_runs_the_body_with_its_rank, NothingLeft) {
  SharedWords words;
  BOOST_TEST(!run_children(4, [&](int rank) { words[static_cast<std::size_t>(rank)] = rank + 1; }));
  for (int rank = 0; rank < 4; ++rank)
    BOOST_TEST(words[static_cast<std::size_t>(rank)] == rank + 1);
}

BOOST_FIXTURE_TEST_CASE(an_exception_is_told_with_its_class_and_text, NothingLeft) {
  const auto failure = run_children(4, [](int rank) {
    if (rank == 2) throw InvalidArgument("no such thing");
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 2);
  BOOST_TEST(failure->exit_code == 1);
  BOOST_TEST(failure->message.starts_with("rank 2 of 4 (pid "));
  BOOST_TEST(failure->message.ends_with(") raised InvalidArgument: no such thing"));
}

BOOST_FIXTURE_TEST_CASE(a_signal_is_told_by_number_and_name, NothingLeft) {
  const auto failure = run_children(2, [](int rank) {
    if (rank == 1) ::raise(SIGKILL);
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
  BOOST_TEST(failure->exit_code == 128 + SIGKILL);
  BOOST_TEST(failure->message.ends_with("was ended by signal 9 (SIGKILL)"));
}

BOOST_FIXTURE_TEST_CASE(an_exit_code_is_told, NothingLeft) {
  const auto failure = run_children(2, [](int rank) {
    if (rank == 0) ::_exit(3);
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->exit_code == 3);
  BOOST_TEST(failure->message.ends_with("ended with exit code 3"));
}

BOOST_FIXTURE_TEST_CASE(the_cause_is_told_though_its_consequences_end_before_it, NothingLeft) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto failure = run_children(4, [](int rank) {
      if (rank != 2) raise_peer_failure(2);
      std::this_thread::sleep_for(milliseconds(100));
      throw std::runtime_error("the cause");
    });
    BOOST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->message.ends_with("raised std::runtime_error: the cause"));
  }
}

BOOST_FIXTURE_TEST_CASE(a_consequence_is_told_if_there_is_no_cause, NothingLeft) {
  const auto failure = run_children(2, [](int rank) {
    if (rank == 1) raise_peer_failure(0);
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->message.ends_with("raised PeerFailure: rank 0 failed"));
}

BOOST_FIXTURE_TEST_CASE(ranks_that_dont_end_get_sigterm, NothingLeft) {
  const auto failure = run_children(3,
                                    [](int rank) {
                                      if (rank == 1) throw std::runtime_error("first");
                                      sleep_for_ever();
                                    },
                                    {.grace = milliseconds(50), .on_end = {}});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
}

BOOST_FIXTURE_TEST_CASE(ranks_that_ignore_sigterm_are_killed, NothingLeft) {
  const auto start = Clock::now();
  std::vector<int> codes;
  const auto failure =
      run_children(2,
                   [](int rank) {
                     std::signal(SIGTERM, SIG_IGN);
                     if (rank == 1) throw std::runtime_error("first");
                     sleep_for_ever();
                   },
                   {.grace = milliseconds(100),
                    .on_end = [&](int, const ChildEnd& end) { codes.push_back(end.exit_code()); }});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
  BOOST_TEST(codes == (std::vector<int>{1, 128 + SIGKILL}), boost::test_tools::per_element());
  BOOST_TEST((Clock::now() - start >= milliseconds(200)));
}

BOOST_FIXTURE_TEST_CASE(a_grace_of_0_is_no_grace, NothingLeft) {
  const auto failure = run_children(2,
                                    [](int rank) {
                                      std::signal(SIGTERM, SIG_IGN);
                                      if (rank == 1) throw std::runtime_error("first");
                                      sleep_for_ever();
                                    },
                                    {.grace = milliseconds(0), .on_end = {}});
  BOOST_TEST(failure->rank == 1);
}

// Whoever would be ended here would be missing among the successes.
BOOST_FIXTURE_TEST_CASE(the_others_go_on_and_the_killed_are_no_failure, NothingLeft) {
  std::vector<int> codes;
  const auto failure = run_children(
      4,
      [](int rank) {
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer makes an exit code of it
        if (rank < 2) ::raise(rank == 0 ? SIGKILL : SIGSEGV);
        std::this_thread::sleep_for(milliseconds(100 * rank));
      },
      {.others_go_on = true, .grace = milliseconds(0), .on_end = [&](int, const ChildEnd& end) {
         codes.push_back(end.exit_code());
         BOOST_TEST(end.pid > 0);
       }});
  BOOST_TEST(!failure.has_value());
  std::sort(codes.begin(), codes.end());
  BOOST_TEST(codes == (std::vector<int>{0, 0, 128 + SIGKILL, 128 + SIGSEGV}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(what_a_child_says_itself_is_a_failure_also_where_the_others_go_on,
                        NothingLeft) {
  SharedWords words;
  const auto failure = run_children(3,
                                    [&](int rank) {
                                      if (rank == 0) ::raise(SIGKILL);
                                      if (rank == 1) throw std::runtime_error("the disk is full");
                                      std::this_thread::sleep_for(milliseconds(300));
                                      words[0] = 1;
                                    },
                                    {.others_go_on = true, .grace = milliseconds(0), .on_end = {}});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
  BOOST_TEST(words[0] == 1);
}

BOOST_FIXTURE_TEST_CASE(if_all_are_killed_the_first_one_is_the_failure, NothingLeft) {
  const auto failure = run_children(3,
                                    [](int rank) {
                                      const int order = (rank + 2) % 3;  // rank 1 is the first
                                      std::this_thread::sleep_for(milliseconds(200 * order));
                                      ::raise(SIGKILL);
                                    },
                                    {.others_go_on = true, .grace = {}, .on_end = {}});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
  BOOST_TEST(failure->exit_code == 128 + SIGKILL);
}

BOOST_FIXTURE_TEST_CASE(every_end_is_told_once, NothingLeft) {
  std::vector<int> ends(4);
  run_children(4, [](int rank) { ::_exit(rank); },
               {.grace = seconds(2), .on_end = [&](int rank, const ChildEnd& end) {
                  ends[static_cast<std::size_t>(rank)] += 1 + 10 * end.exit_code();
                }});
  BOOST_TEST(ends == (std::vector<int>{1, 11, 21, 31}), boost::test_tools::per_element());
}

// The guard's destructor would write to the shared word.
BOOST_FIXTURE_TEST_CASE(neither_destructors_nor_atexit_handlers_of_the_caller_run, NothingLeft) {
  static SharedWords words;
  struct Guard {
    ~Guard() { words[0] += 1; }
  };
  std::atexit([] { words[1] += 1; });
  {
    Guard guard;
    run_children(2, [](int) {});
    BOOST_TEST(words[0] == 0);
  }
  BOOST_TEST(words[0] == 1);
  BOOST_TEST(words[1] == 0);
}

BOOST_FIXTURE_TEST_CASE(objects_of_the_body_are_destroyed_before_the_report, NothingLeft) {
  SharedWords words;
  struct Guard {
    std::atomic<int>& word;
    ~Guard() { word = 1; }
  };
  run_children(2, [&](int rank) {
    const Guard guard{words[static_cast<std::size_t>(rank)]};
    if (rank == 1) throw std::runtime_error("x");
  });
  BOOST_TEST(words[0] == 1);
  BOOST_TEST(words[1] == 1);
}

// Standard output is a file for the time of the test.
BOOST_FIXTURE_TEST_CASE(stdio_is_flushed_once, NothingLeft) {
  std::FILE* file = std::tmpfile();
  std::fputs("parent ", file);
  run_children(1, [&](int) { std::fputs("child", file); });
  std::array<char, 64> text{};
  BOOST_TEST(::pread(::fileno(file), text.data(), text.size(), 0) == 12);
  BOOST_TEST(std::string(text.data()) == "parent child");
  std::fclose(file);
}

BOOST_FIXTURE_TEST_CASE(works_where_sigchld_is_ignored, NothingLeft) {
  const auto former = std::signal(SIGCHLD, SIG_IGN);
  const auto failure = run_children(3, [](int rank) {
    if (rank == 1) throw InvalidArgument("told all the same");
  });
  const bool fine = !run_children(3, [](int) {});
  std::signal(SIGCHLD, former);
  BOOST_TEST(fine);
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->message.ends_with("raised InvalidArgument: told all the same"));
}

BOOST_FIXTURE_TEST_CASE(signal_handlers_that_interrupt_the_wait_are_harmless, NothingLeft) {
  struct sigaction action {
  }, former{};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, &former);
  itimerval often{{0, 2000}, {0, 2000}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const auto failure = run_children(2, [](int rank) {
    std::this_thread::sleep_for(milliseconds(100));
    if (rank == 1) throw std::runtime_error("first");
  });
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &former, nullptr);
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank == 1);
}

// The middle process plays the caller and is killed.
BOOST_AUTO_TEST_CASE(children_die_with_their_parent) {
  Pipe alive = make_pipe();
  const pid_t caller = ::fork();
  if (caller == 0) {
    run_children(2, [&](int) {
      const char byte = '.';
      if (::write(alive.write_end.get(), &byte, 1) == 1) sleep_for_ever();
    });
    ::_exit(0);
  }
  alive.write_end.close();
  char byte;
  BOOST_TEST(::read(alive.read_end.get(), &byte, 1) == 1);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  // The end of the pipe comes when the last child is gone.
  while (::read(alive.read_end.get(), &byte, 1) > 0) {
  }
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
