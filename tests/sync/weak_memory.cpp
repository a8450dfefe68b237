#include "tests/sync/weak_memory.h"

#include <algorithm>
#include <utility>

namespace tensorplay::sync {

WeakMemory::WeakMemory(int threads, int words, Buffering buffering)
    : buffering_(buffering),
      words_(static_cast<std::size_t>(words)),
      buffers_(static_cast<std::size_t>(threads)) {}

std::uint64_t WeakMemory::load(int thread, int word) const {
  std::uint64_t value = shared(word);
  for (const Entry& entry : buffer(thread)) {
    if (entry.word == static_cast<std::uint64_t>(word)) apply(entry, value);
  }
  return value;
}

void WeakMemory::store(int thread, int word, std::uint64_t value) {
  buffers_[static_cast<std::size_t>(thread)].push_back(
      {static_cast<std::uint64_t>(word), value, false});
}

bool WeakMemory::add(int thread, int word, std::uint64_t value) {
  const Entry entry{static_cast<std::uint64_t>(word), value, true};
  if (buffering_ == Buffering::unordered) {
    buffers_[static_cast<std::size_t>(thread)].push_back(entry);
    return true;
  }
  if (!is_drained(thread)) return false;
  apply(entry, words_[entry.word]);
  return true;
}

std::optional<std::uint64_t> WeakMemory::exchange(int thread, int word, std::uint64_t value) {
  if (buffering_ == Buffering::ordered && !is_drained(thread)) return std::nullopt;
  return std::exchange(words_[static_cast<std::size_t>(word)], value);
}

int WeakMemory::drain_count() const {
  const auto threads = static_cast<int>(buffers_.size());
  return buffering_ == Buffering::ordered ? threads : threads * static_cast<int>(words_.size());
}

void WeakMemory::drain(int which) {
  const int words = buffering_ == Buffering::ordered ? 1 : static_cast<int>(words_.size());
  auto& buffer = buffers_[static_cast<std::size_t>(which / words)];
  const auto wanted = static_cast<std::uint64_t>(which % words);
  const auto oldest = std::ranges::find_if(buffer, [&](const Entry& entry) {
    return buffering_ == Buffering::ordered || entry.word == wanted;
  });
  if (oldest == buffer.end()) return;
  apply(*oldest, words_[oldest->word]);
  buffer.erase(oldest);
}

void WeakMemory::save(std::string& text) const {
  for (const std::uint64_t word : words_) append_word(text, word);
  for (const auto& buffer : buffers_) {
    append_word(text, buffer.size());
    for (const Entry& entry : buffer) {
      append_word(text, entry.word << 1 | std::uint64_t{entry.adds});
      append_word(text, entry.value);
    }
  }
}

void WeakMemory::restore(const std::string& text, std::size_t& at) {
  for (std::uint64_t& word : words_) word = take_word(text, at);
  for (auto& buffer : buffers_) {
    buffer.resize(take_word(text, at));
    for (Entry& entry : buffer) {
      const std::uint64_t head = take_word(text, at);
      entry = {head >> 1, take_word(text, at), (head & 1) != 0};
    }
  }
}

}  // namespace tensorplay::sync
