#include "tools/tpbench/rig.h"

#include "lib/sync/futex.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace tensorplay::tpbench {
namespace {

using multiprocessing::FileDescriptor;

// Looks at a word before the CPU is given away: for as long as others run on other CPUs, and where
// they wait for this one.
constexpr int kLooks = 20000;
constexpr int kLooksOversubscribed = 50;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Rig::Rig(FileDescriptor file) : file_(std::move(file)) {
  void* address =
      ::mmap(nullptr, sizeof(RigMemory), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (address == MAP_FAILED) throw_errno("mmap of the measuring rig");
  memory_ = static_cast<RigMemory*>(address);
}

Rig::Rig(Rig&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, nullptr)) {}

Rig::~Rig() {
  if (memory_ != nullptr) ::munmap(memory_, sizeof(RigMemory));
}

Rig Rig::make(int ranks) {
  FileDescriptor file(::memfd_create("tpbench", MFD_CLOEXEC));
  if (!file.is_open()) throw_errno("memfd_create");
  if (::ftruncate(file.get(), sizeof(RigMemory)) != 0) throw_errno("ftruncate");
  Rig rig(std::move(file));
  rig.memory_->owner = ::getpid();
  rig.memory_->ranks = ranks;
  if (::sched_getaffinity(0, sizeof(cpu_set_t), &rig.memory_->cpus) != 0) {
    throw_errno("sched_getaffinity");
  }
  return rig;
}

Rig Rig::open(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) throw_errno(path.c_str());
  return Rig(std::move(file));
}

std::string Rig::path() const {
  return "/proc/" + std::to_string(memory_->owner) + "/fd/" + std::to_string(file_.get());
}

RigRank::RigRank(Rig& rig, int rank) noexcept
    : memory_(rig.memory()),
      rank_(rank),
      epoch_(memory_.rank[static_cast<std::size_t>(rank)].epoch.word.load()) {}

void RigRank::meet() {
  // Release: what this rank has written before is there for those that have met it.
  memory_.rank[static_cast<std::size_t>(rank_)].epoch.word.store(++epoch_,
                                                                 std::memory_order_release);
  const int looks = memory_.order.oversubscribed ? kLooksOversubscribed : kLooks;
  for (int other = 0; other < memory_.ranks; ++other) {
    const auto& word = memory_.rank[static_cast<std::size_t>(other)].epoch.word;
    // Acquire: goes with the store above, in the other rank.
    for (int i = 0; word.load(std::memory_order_acquire) < epoch_; ++i) {
      if (i < looks) {
        relax();
        continue;
      }
      if (memory_.failed.load() != 0) throw OtherRankFailed();
      ::sched_yield();
    }
  }
}

Plan RigRank::agree(const Plan& plan) {
  if (rank_ == 0) memory_.plan = plan;
  meet();
  const Plan agreed = memory_.plan;
  meet();
  return agreed;
}

void RigRank::note(double seconds) noexcept {
  RigMemory::Rank& own = memory_.rank[static_cast<std::size_t>(rank_)];
  if (own.sample_count < kSamplesMax) own.samples[own.sample_count++] = seconds;
}

bool RigRank::await_order(std::uint32_t& seen) const {
  while (memory_.order_number.load() == seen) {
    sync::futex_wait(memory_.order_number, seen, std::chrono::seconds(1));
    if (::kill(memory_.owner, 0) != 0 && errno == ESRCH) return false;
  }
  ++seen;
  return true;
}

void RigRank::bind() const {
  if (memory_.order.bind) {
    bind_to(memory_.cpus, rank_);
  } else {
    bind_to_all(memory_.cpus);
  }
}

void RigRank::tell(const char* error) noexcept {
  std::uint32_t none = 0;
  if (!memory_.failed.compare_exchange_strong(none, 1)) return;
  const std::size_t length = std::min(std::strlen(error), memory_.error.size() - 1);
  std::memcpy(memory_.error.data(), error, length);
  memory_.failed.store(2);
  sync::futex_wake_all(memory_.done);
}

void RigRank::perform_one(const std::function<void(RigRank&, const Order&)>& perform) {
  memory_.rank[static_cast<std::size_t>(rank_)].sample_count = 0;
  const Order order = memory_.order;
  try {
    perform(*this, order);
  } catch (const std::exception& error) {
    tell(error.what());
    throw;
  }
  tell_done();
}

void RigRank::tell_done() noexcept {
  if (memory_.done.fetch_add(1) + 1 == static_cast<std::uint32_t>(memory_.ranks)) {
    sync::futex_wake_all(memory_.done);
  }
}

void RigRank::serve(const std::function<void(RigRank&, const Order&)>& perform) {
  std::uint32_t seen = 0;
  tell_done();
  while (await_order(seen) && memory_.order.task != Task::leave) {
    if (memory_.order.bind || memory_.order.task != Task::collective) bind();
    perform_one(perform);
  }
}

std::vector<double> slowest_samples(const RigMemory& memory) {
  std::vector<double> slowest;
  for (int rank = 0; rank < memory.ranks; ++rank) {
    const RigMemory::Rank& own = memory.rank[static_cast<std::size_t>(rank)];
    slowest.resize(std::max(slowest.size(), std::min(own.sample_count, kSamplesMax)));
    for (std::size_t i = 0; i < std::min(own.sample_count, slowest.size()); ++i) {
      slowest[i] = std::max(slowest[i], own.samples[i]);
    }
  }
  return slowest;
}

int count_of(const cpu_set_t& cpus) noexcept {
  return CPU_COUNT(&cpus);
}

void bind_to(const cpu_set_t& cpus, int index) {
  int left = index % std::max(1, count_of(cpus));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

void bind_to_all(const cpu_set_t& cpus) {
  ::sched_setaffinity(0, sizeof(cpus), &cpus);
}

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace tensorplay::tpbench
