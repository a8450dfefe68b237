#include "tests/distributed/endings.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <thread>

namespace tensorplay::distributed {
namespace {

[[noreturn]] void throw_bad_batch() {
  throw std::runtime_error("bad batch");
}

void throw_and_catch_nowhere() noexcept {
  throw_bad_batch();
}

// Only the exit handlers of the library are of interest: those of the test program would write into
// its report once more.
[[noreturn]] void exit_with_handlers() {
  close_range(3, ~0U, 0);
  std::exit(3);
}

void become_another_program() {
  execl("/bin/sleep", "sleep", "1", nullptr);
}

// The thread that made the group ends first, and its process only later.
void end_in_two_steps() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    raise(SIGKILL);
  }).detach();
  syscall(SYS_exit, 0);  // of this thread alone, without unwinding the test
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Ending& ending) {
  return out << ending.name;
}

const std::vector<Ending>& all_endings() {
  static const std::vector<Ending> endings{
      {"SIGKILL", [] { raise(SIGKILL); }, Place::either, "killed", "signal 9"},
      {"SIGSEGV", [] { raise(SIGSEGV); }, Place::either, "killed", "signal 11"},
      {"SIGTERM", [] { raise(SIGTERM); }, Place::either, "killed", "signal 15"},
      {"abort", [] { std::abort(); }, Place::either, "killed", "signal 6"},
      {"_exit_without_a_word", [] { _exit(4); }, Place::either, "exited", "code 4"},
      {"exit_without_joining", exit_with_handlers, Place::either, "exited", "code 3"},
      {"return_from_main", [] {}, Place::outside, "exited", "gave up the group"},
      {"execve", become_another_program, Place::either, "exited", "by execve()"},
      {"thread_before_process", end_in_two_steps, Place::either, "killed", "signal 9"},
      {"exception_in_the_context", throw_bad_batch, Place::inside, "raised", "bad batch"},
      {"exception_that_main_catches", throw_bad_batch, Place::outside, "raised", "exception"},
      {"exception_that_nobody_catches", throw_and_catch_nowhere, Place::either, "raised",
       "raised std::runtime_error: bad batch"},
  };
  return endings;
}

void end_by(const Ending& ending) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int signal : {SIGSEGV, SIGABRT, SIGTERM}) std::signal(signal, SIG_DFL);
  // The C++ run time prints the exception that it ends by.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(9);
  ending.act();
}

void be_killed_after(std::chrono::microseconds delay) {
  std::signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
  const itimerval once{{0, 0}, {0, static_cast<suseconds_t>(delay.count())}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

}  // namespace tensorplay::distributed
