#include "lib/collectives/copy_stores.h"

#include "lib/reduce/streaming_copy.h"
#include "lib/sync/copy_stores.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

namespace tensorplay::collectives {
namespace {

using distributed::StreamingStores;
using shm::CopyStores;
using Clock = std::chrono::steady_clock;
using Duration = Clock::duration;

constexpr std::size_t kPieceBytes = shm::kChunkBytes;
constexpr std::size_t kPiecesMax = (std::size_t{32} << 20) / kPieceBytes;
constexpr int kTurnsMax = 8;
constexpr Duration kTimeForAll = std::chrono::milliseconds(4);
// What isn't there by then, since the memory is fresh or others use the CPU, isn't measured: turns
// take about as long, and nobody looks meanwhile for ranks that have gone.
constexpr Duration kTimeToTouch = std::chrono::milliseconds(15);

Duration time_of(const auto& action) {
  const Clock::time_point begin = Clock::now();
  action();
  return Clock::now() - begin;
}

// What the pieces took that were copied in one way; the last ones, if there are many.
class Samples {
 public:
  void add(Duration piece) noexcept { taken_[count_++ % taken_.size()] = piece; }

  Duration median() noexcept {
    const std::span<Duration> taken(taken_.data(), std::min(count_, taken_.size()));
    const auto middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
    std::nth_element(taken.begin(), middle, taken.end());
    return *middle;
  }

 private:
  std::array<Duration, 2 * kPiecesMax> taken_{};
  std::size_t count_ = 0;
};

// Memory to be written, in pieces, from another piece, and to be read into that.
class Pieces {
 public:
  explicit Pieces(std::span<std::byte> memory) noexcept
      : memory_(memory.data()),
        count_(std::min(memory.size() / kPieceBytes, kPiecesMax)),
        hot_(new (std::nothrow) std::byte[kPieceBytes]()) {}

  // False for memory of less than a piece, or if there is none for the other.
  bool usable() const noexcept { return count_ != 0 && hot_ != nullptr; }

  // Writes all, so that the memory is there; or as much as there is time for.
  void touch() noexcept {
    const Clock::time_point end = Clock::now() + kTimeToTouch;
    std::size_t touched = 0;
    while (touched < count_ && (touched == 0 || Clock::now() < end)) {
      std::memcpy(at(touched++), hot_.get(), kPieceBytes);
    }
    count_ = touched;
  }

  void take_turn(bool streams, Samples& samples) noexcept {
    std::array<Duration, kPiecesMax> written;
    for (std::size_t i = 0; i < count_; ++i) {
      written[i] = time_of([&] {
        streams ? reduce::streaming_copy(at(i), hot_.get(), kPieceBytes)
                : static_cast<void>(std::memcpy(at(i), hot_.get(), kPieceBytes));
      });
    }
    for (std::size_t i = 0; i < count_; ++i) {
      samples.add(written[i] + time_of([&] { std::memcpy(hot_.get(), at(i), kPieceBytes); }));
    }
  }

 private:
  std::byte* at(std::size_t i) const noexcept { return memory_ + i * kPieceBytes; }

  std::byte* memory_;
  std::size_t count_;
  std::unique_ptr<std::byte[]> hot_;
};

// The longest part of this rank's destination that isn't its source, too.
std::span<std::byte> free_part(const Exchange& exchange) noexcept {
  const std::span all(exchange.destination, exchange.shape.destination_bytes());
  if (!exchange.supplies()) return all;
  const auto place = [&](const std::byte* address) {
    const std::less<const std::byte*> before;
    if (before(address, all.data())) return std::size_t{0};
    return std::min(static_cast<std::size_t>(address - all.data()), all.size());
  };
  const std::size_t begin = place(exchange.source);
  const std::size_t end = place(exchange.source + exchange.shape.source_bytes());
  return begin > all.size() - end ? all.first(begin) : all.subspan(end);
}

CopyStores settled_or_measured(const Exchange& exchange, std::atomic<CopyStores>& word) noexcept {
  const CopyStores settled = sync::settled_stores(word);
  if (settled != CopyStores::undecided) return settled;
  const std::span<std::byte> memory = free_part(exchange);
  if (memory.size() < kPieceBytes) return CopyStores::plain;  // nothing worth a word is copied
  return sync::settle_stores(word, measure_stores(memory));
}

}  // namespace

int copy_class(std::size_t destination_bytes) noexcept {
  int result = -1;
  while (result + 1 < shm::kCopyClasses && destination_bytes >= shm::kCopyClassBytes
                                                                    << (2 * (result + 1))) {
    ++result;
  }
  return result;
}

CopyStores measure_stores(std::span<std::byte> memory) noexcept {
  Pieces pieces(memory);
  if (!pieces.usable()) return CopyStores::plain;
  pieces.touch();
  Samples plain;
  Samples streaming;
  Duration left = kTimeForAll;
  Duration turn{};
  for (int turns = 0; turns < kTurnsMax && left >= turn; ++turns) {
    turn = time_of([&] {
      pieces.take_turn(false, plain);
      pieces.take_turn(true, streaming);
    });
    left -= turn;
  }
  return streaming.median() * 10 <= plain.median() * 9 ? CopyStores::streaming : CopyStores::plain;
}

bool copies_stream(const Exchange& exchange) noexcept {
  const bool is_all_reduce = exchange.shape.kind == CollectiveKind::all_reduce;
  if (!exchange.receives() || (exchange.shape.reduces() && !is_all_reduce)) return false;
  const int size_class = copy_class(exchange.shape.destination_bytes());
  if (size_class < 0) return false;
  shm::SegmentHeader& header = exchange.memory->segment().header();
  if (header.streaming_stores != StreamingStores::automatic) {
    return header.streaming_stores == StreamingStores::always;
  }
  if (is_all_reduce) return false;
  auto& word = header.copy_stores[static_cast<std::size_t>(size_class)];
  return settled_or_measured(exchange, word) == CopyStores::streaming;
}

}  // namespace tensorplay::collectives
