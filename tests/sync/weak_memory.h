// Memory in which a store is seen by its own thread at once and by the others later.
//
// Each thread has a buffer; what it stores waits there until it drains, at any time. A fence waits
// for the buffer to be empty. That is all that x86 does to the order of accesses, and what makes
// two threads that each store and then look at the other's word miss each other.
#pragma once

#include "tests/sync/model.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tensorplay::sync {

enum class Buffering {
  // As x86: first in, first out; a read-modify-write is a fence.
  ordered,
  // Weaker than any machine we know: stores to different words drain in any order, and a relaxed
  // addition whose result isn't used waits in the buffer like a store.
  unordered,
};

class WeakMemory {
 public:
  WeakMemory(int threads, int words, Buffering buffering);

  std::uint64_t load(int thread, int word) const;
  void store(int thread, int word, std::uint64_t value);
  // A relaxed read-modify-write. False if it has to wait for the buffer.
  bool add(int thread, int word, std::uint64_t value);
  // A read-modify-write whose result is used: acts on memory at once. Nothing if it has to wait.
  std::optional<std::uint64_t> exchange(int thread, int word, std::uint64_t value);
  // Whether a fence of this thread would be passed.
  bool is_drained(int thread) const { return buffer(thread).empty(); }
  // What all threads see that have nothing of their own on the way: for system calls, which drain.
  std::uint64_t shared(int word) const { return words_[static_cast<std::size_t>(word)]; }

  // The ways in which one store of some thread can drain; drain() does nothing if it has none.
  int drain_count() const;
  void drain(int which);

  void save(std::string& text) const;
  void restore(const std::string& text, std::size_t& at);

 private:
  struct Entry {
    std::uint64_t word;
    std::uint64_t value;
    bool adds;
  };

  const std::vector<Entry>& buffer(int thread) const {
    return buffers_[static_cast<std::size_t>(thread)];
  }
  static void apply(const Entry& entry, std::uint64_t& word) {
    word = entry.adds ? word + entry.value : entry.value;
  }

  Buffering buffering_;
  std::vector<std::uint64_t> words_;
  std::vector<std::vector<Entry>> buffers_;
};

}  // namespace tensorplay::sync
