// Which ranks a collective's result stands for.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// The most ranks a group can have.
inline constexpr int kRankCountMax = 256;

// The set of ranks that were active in one operation. A value: small, copied freely, the same on
// every rank for the same operation. Empty for a shadow call that the active ranks did not make
// this time (see algorithms/join.h).
class Contributors {
 public:
  Contributors() = default;

  void insert(int rank) noexcept {
    words_[static_cast<unsigned>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  }
  void erase(int rank) noexcept {
    words_[static_cast<unsigned>(rank) / 64] &= ~(std::uint64_t{1} << (rank % 64));
  }

  bool contains(int rank) const noexcept {
    return rank >= 0 && rank < kRankCountMax &&
           ((words_[static_cast<unsigned>(rank) / 64] >> (rank % 64)) & 1) != 0;
  }
  int count() const noexcept {
    int total = 0;
    for (std::uint64_t word : words_) {
      // Most groups fill one word, and without an instruction for it a count is a call.
      if (word != 0) total += std::popcount(word);
    }
    return total;
  }
  bool empty() const noexcept {
    std::uint64_t any = 0;
    for (std::uint64_t word : words_) any |= word;
    return any == 0;
  }

  // The greatest contributing rank, -1 if there is none.
  int highest() const noexcept {
    for (int i = static_cast<int>(words_.size()) - 1; i >= 0; --i) {
      const std::uint64_t word = words_[static_cast<unsigned>(i)];
      if (word != 0) return i * 64 + 63 - std::countl_zero(word);
    }
    return -1;
  }

  // Calls visit(rank) for each rank of the set, in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (unsigned i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<int>(i * 64) + std::countr_zero(word));
      }
    }
  }
  // Whether test(rank) holds for every rank of the set.
  template <typename Test>
  bool all_of(Test&& test) const {
    for (unsigned i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        if (!test(static_cast<int>(i * 64) + std::countr_zero(word))) return false;
      }
    }
    return true;
  }

  // The contributing ranks in ascending order.
  std::vector<int> ranks() const {
    std::vector<int> result;
    for_each([&result](int rank) { result.push_back(rank); });
    return result;
  }

  friend bool operator==(const Contributors&, const Contributors&) = default;

 private:
  std::array<std::uint64_t, kRankCountMax / 64> words_{};
};

// "ranks 0, 1, 3", "ranks 0-3, 6", "rank 2", "no rank": for messages.
std::string to_string(const Contributors& ranks);

}  // namespace tensorplay::distributed
