#include "tools/tpbench/job.h"

#include "lib/multiprocessing/process_end.h"
#include "lib/sync/futex.h"
#include "tools/tpbench/child_program.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <system_error>

namespace tensorplay::tpbench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 120s;
constexpr auto kGrace = 3s;

// The settings that the program is to find in its environment, as "name=value".
void set_environment(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

}  // namespace

Job::Job(std::string name, int ranks, const std::function<void(Rig&)>& launch)
    : name_(std::move(name)), rig_(Rig::make(ranks)) {
  start([&] {
    // Nothing of this process is to be flushed or destroyed again in the child.
    try {
      launch(rig_);
    } catch (const std::exception& error) {
      // A rank has told it already, if it could.
      if (rig_.memory().failed.load() == 0) std::cerr << "tpbench: " << error.what() << std::endl;
      ::_exit(1);
    }
    ::_exit(0);
  });
}

Job::Job(std::string name, int ranks,
         const std::function<std::vector<std::string>(const std::string& rig_path)>& command,
         const std::vector<std::string>& environment)
    : name_(std::move(name)),
      rig_(Rig::make(ranks)),
      output_(::memfd_create("output", MFD_CLOEXEC)) {
  start([&] {
    set_environment(environment);
    execute(command(rig_.path()), output_.get(), output_.get());
  });
}

void Job::start(const std::function<void()>& child) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    // SIGTERM, so that an mpirun ends its ranks.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    child();
    ::_exit(1);
  }
  process_.emplace(pid);
  try {
    await();
  } catch (...) {
    end();
    throw;
  }
}

Job::~Job() {
  end();
}

// Asked first, also if it has failed: an MPI whose ranks are killed leaves its files in /dev/shm.
void Job::end() noexcept {
  RigMemory& memory = rig_.memory();
  memory.order = {.task = Task::leave};
  memory.order_number.fetch_add(1);
  sync::futex_wake_all(memory.order_number);
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (ends_within(*process_, kGrace)) break;
    std::cerr << "tpbench: " << name_ << " (pid " << process_->pid()
              << ") doesn't end when asked to, and gets " << multiprocessing::signal_text(signal);
    if (signal == SIGKILL && output_.is_open()) {
      std::cerr << "; look into /dev/shm for files that it has left and nobody uses";
    }
    std::cerr << std::endl;
    process_->signal(signal);
  }
  process_->reap();
}

std::vector<double> Job::samples(const Order& order) {
  if (has_failed_) throw Error(name_ + " has failed before and can't be measured any more");
  RigMemory& memory = rig_.memory();
  memory.order = order;
  memory.done.store(0);
  memory.order_number.fetch_add(1);
  sync::futex_wake_all(memory.order_number);
  await();
  std::vector<double> slowest = slowest_samples(memory);
  if (slowest.empty()) fail("has left no samples");
  return slowest;
}

void Job::await() {
  RigMemory& memory = rig_.memory();
  const auto deadline = Clock::now() + kPatience;
  for (;;) {
    const std::uint32_t done = memory.done.load();
    if (memory.failed.load() == 2) fail(std::string("failed: ") + memory.error.data());
    if (done == static_cast<std::uint32_t>(memory.ranks)) return;
    if (has_ended()) fail("has ended too early" + output());
    if (Clock::now() > deadline) fail("hasn't answered for two minutes" + output());
    sync::futex_wait(memory.done, done, 100ms);
  }
}

void Job::fail(const std::string& what) {
  has_failed_ = true;
  throw Error(fmt::format("{} ({} ranks) {}", name_, ranks(), what));
}

bool Job::has_ended() const {
  return ends_within(*process_, 0ms);
}

std::string Job::output() const {
  std::array<char, 2000> text{};
  if (!output_.is_open()) return "";
  const ssize_t length = ::pread(output_.get(), text.data(), text.size(), 0);
  return length <= 0 ? "" : ": " + std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace tensorplay::tpbench
