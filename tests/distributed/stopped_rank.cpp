#include "tests/distributed/stopped_rank.h"

#include "lib/base/fault_point.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <new>
#include <string_view>
#include <thread>

namespace tensorplay::distributed {
namespace {

// Of the process that is to stop.
std::string_view awaited_point;
int awaited_signal = 0;
std::atomic<int>* told_pid = nullptr;

void act_once(const char* name) {
  if (name != awaited_point) return;
  awaited_point = {};
  // Release: pairs with await_stop(). What follows this is done when the rank is continued.
  told_pid->store(getpid(), std::memory_order_release);
  std::raise(awaited_signal);
}

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 30'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

StoppedRank::StoppedRank() {
  void* memory =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  page_ = new (memory) Page;
}

StoppedRank::~StoppedRank() {
  munmap(page_, sizeof(Page));
}

void StoppedRank::act_at(const char* point, int signal) {
  awaited_point = point;
  awaited_signal = signal;
  told_pid = &page_->stopped_pid;
  fault_handler = &act_once;
}

void StoppedRank::stop_here_at(const char* point) {
  act_at(point, SIGSTOP);
}

void StoppedRank::die_here_at(const char* point) {
  act_at(point, SIGKILL);
}

bool StoppedRank::await_stop() const {
  // Acquire: pairs with act_once().
  return comes_true([this] { return page_->stopped_pid.load(std::memory_order_acquire) != 0; });
}

void StoppedRank::leave(int others) {
  // Acquire and release: what all the others did is done before the rank goes on.
  if (page_->left.fetch_add(1, std::memory_order_acq_rel) + 1 < others) return;
  // Relaxed: who leaves has awaited the stop.
  kill(page_->stopped_pid.load(std::memory_order_relaxed), SIGCONT);
}

void StoppedRank::go_on() {
  // Release: pairs with await_going_on(); what the rank wrote since it was continued is visible.
  page_->goes_on.store(true, std::memory_order_release);
}

bool StoppedRank::await_going_on() const {
  // Acquire: pairs with go_on().
  return comes_true([this] { return page_->goes_on.load(std::memory_order_acquire); });
}

}  // namespace tensorplay::distributed
