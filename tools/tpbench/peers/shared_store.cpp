#include "tools/tpbench/peers/shared_store.h"

#include <tensorplay/error.h>

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <thread>

namespace tensorplay::tpbench {

using namespace std::chrono_literals;

constexpr std::string_view kHostPrefix = "rank_";

struct SharedStore::Entry {
  std::atomic<std::size_t> length;  // 0: not set yet
  std::array<char, 16384> data;
};

SharedStore::SharedStore(int ranks) : ranks_(ranks) {
  void* address =
      ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap of the ranks' addresses");
  }
  entries_ = static_cast<Entry*>(address);  // zero: nothing is set
}

SharedStore::~SharedStore() {
  ::munmap(entries_, bytes());
}

std::size_t SharedStore::bytes() const noexcept {
  return 2 * sizeof(Entry) * static_cast<std::size_t>(ranks_);
}

SharedStore::Entry& SharedStore::entry(const std::string& key) const {
  const bool is_host = key.starts_with(kHostPrefix);
  int rank = -1;
  const char* begin = key.data() + (is_host ? kHostPrefix.size() : 0);
  const char* end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(begin, end, rank);
  if (error != std::errc{} || stop != end || rank < 0 || rank >= ranks_) {
    throw Error("Gloo's key '" + key + "' is none of a rank: this version of Gloo isn't known");
  }
  return entries_[rank * 2 + (is_host ? 1 : 0)];
}

void SharedStore::set(const std::string& key, const std::vector<char>& data) {
  Entry& own = entry(key);
  if (data.empty() || data.size() > own.data.size()) {
    throw Error("Gloo's address of " + std::to_string(data.size()) + " bytes doesn't fit");
  }
  std::ranges::copy(data, own.data.begin());
  // Release: the address is there for who sees its length; goes with the load in wait().
  own.length.store(data.size(), std::memory_order_release);
}

std::vector<char> SharedStore::get(const std::string& key) {
  wait({key});
  const Entry& found = entry(key);
  // Relaxed: wait() has acquired it.
  const std::size_t length = found.length.load(std::memory_order_relaxed);
  return {found.data.begin(), found.data.begin() + static_cast<std::ptrdiff_t>(length)};
}

void SharedStore::wait(const std::vector<std::string>& keys) {
  wait(keys, 30s);
}

void SharedStore::wait(const std::vector<std::string>& keys,
                       const std::chrono::milliseconds& timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (const std::string& key : keys) {
    // Acquire: goes with the store in set(), in the other rank.
    while (entry(key).length.load(std::memory_order_acquire) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error("rank " + key + " hasn't told its address in time");
      }
      std::this_thread::sleep_for(1ms);
    }
  }
}

}  // namespace tensorplay::tpbench
