// Memory in which results lie once: agreed by all ranks of a group, and given back by all.
#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::distributed {
namespace {

// What a rank tells the others: short enough to need no vault itself.
struct Told {
  std::uint64_t bytes = 0;       // wanted
  std::uint64_t place = 0;       // of what it has allocated; 0: nothing
  std::array<char, 496> lack{};  // why it has nothing, if it should; ends in '\0'
};
static_assert(sizeof(Told) == 512);

void expect_everyone(const char* call, const GroupEngine& engine, const Contributors& present) {
  Contributors accounted_for = present;
  engine.membership().lost.for_each([&](int rank) { accounted_for.insert(rank); });
  if (accounted_for.count() == engine.size()) return;
  throw InvalidArgument(std::string(call) + ": only " + to_string(present) + " of " +
                        std::to_string(engine.size()) +
                        " ranks called it; call it outside of Join contexts, or before a rank "
                        "joins");
}

// What all ranks tell, of those that are there.
template <typename T>
std::vector<std::pair<int, T>> exchange(ProcessGroup group, const char* call, const T& own) {
  std::vector<std::uint8_t> bytes(sizeof(T)),
      all(sizeof(T) * static_cast<std::size_t>(group.size()));
  std::memcpy(bytes.data(), &own, sizeof(T));
  const Contributors present =
      group.all_gather(std::span<const std::uint8_t>(bytes), std::span(all));
  expect_everyone(call, group.engine(), present);
  std::vector<std::pair<int, T>> told;
  present.for_each([&](int rank) {
    T one;
    std::memcpy(&one, all.data() + static_cast<std::size_t>(rank) * sizeof(T), sizeof(T));
    told.emplace_back(rank, one);
  });
  return told;
}

// All ranks see the same difference: the group fails by it, as by that of any other call.
[[noreturn]] void fail_by_difference(GroupEngine& engine, const std::string& text) {
  engine.fail({shm::FailureKind::mismatch, -1, PeerFailure::Cause::exited, text});
  engine.throw_if_failed();
  throw CollectiveMismatch(text);
}

template <typename T>
void expect_same(GroupEngine& engine, const std::vector<std::pair<int, T>>& told,
                 const std::string& what, std::uint64_t T::*value) {
  for (const auto& [rank, one] : told) {
    const auto& [first, reference] = told.front();
    if (one.*value == reference.*value) continue;
    fail_by_difference(engine, what + ": rank " + std::to_string(first) + " passes " +
                                   std::to_string(reference.*value) + ", rank " +
                                   std::to_string(rank) + " passes " + std::to_string(one.*value));
  }
}

// Memory of this rank's arena, until it is kept.
class Reserve {
 public:
  explicit Reserve(GroupEngine& engine) : engine_(engine) {}
  ~Reserve() {
    if (memory_ != nullptr) engine_.job().arena().deallocate(memory_);
  }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  // Gives what to tell.
  Told take(std::size_t bytes) {
    Told own{.bytes = bytes};
    try {
      memory_ = engine_.job().arena().allocate(bytes, "allocate_shared()");
      if (memory_ != nullptr) own.place = engine_.memory().segment().offset_of(memory_);
    } catch (const SegmentError& error) {
      const std::string text = error.what();
      std::copy_n(text.begin(), std::min(text.size(), own.lack.size() - 1), own.lack.begin());
    }
    return own;
  }
  std::byte* keep() noexcept { return std::exchange(memory_, nullptr); }

 private:
  GroupEngine& engine_;
  std::byte* memory_ = nullptr;
};

void expect_room(const std::vector<std::pair<int, Told>>& told) {
  for (const auto& [rank, one] : told) {
    const std::string lack(one.lack.data(), strnlen(one.lack.data(), one.lack.size()));
    if (!lack.empty()) throw SegmentError("rank " + std::to_string(rank) + ": " + lack);
  }
}

// Of this rank: where the others, or itself, have allocated it.
std::byte* address_of(const GroupEngine& engine, std::uint64_t place, std::size_t bytes) {
  const shm::Segment& segment = engine.memory().segment();
  const auto arena = segment.arena(engine.memory().world_rank(0));
  const std::size_t begin = segment.offset_of(arena.data());
  const bool is_inside =
      place >= begin && bytes <= arena.size() && place - begin <= arena.size() - bytes;
  if (is_inside && place % shm::kPageBytes == 0) return segment.at(place);
  throw SegmentError(
      "allocate_shared(): rank 0 named memory that isn't in its arena: the segment "
      "is damaged");
}

}  // namespace

void* ProcessGroup::allocate_shared_bytes(std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::size_t>::max() / element_bytes) {
    throw InvalidArgument("allocate_shared(): " + std::to_string(count) + " elements of " +
                          std::to_string(element_bytes) + " bytes are more than can be addressed");
  }
  const UseGuard guard(engine_->job());
  const std::size_t bytes = count * element_bytes;
  Reserve reserve(*engine_);
  Told own{.bytes = bytes};
  if (rank() == 0 || engine_->survives()) own = reserve.take(bytes);
  fault_point("shared.allocated");
  const auto told = exchange(as_part_of(CallPurpose::allocate_shared), "allocate_shared()", own);
  expect_same(*engine_, told, "allocate_shared(): bytes", &Told::bytes);
  expect_room(told);
  if (bytes == 0) return nullptr;
  const std::uint64_t place = told.front().second.place;
  std::byte* memory = reserve.keep();
  if (memory == nullptr) memory = address_of(*engine_, place, bytes);
  engine_->shared_results().add(place, {memory, bytes});
  return memory;
}

// All ranks have come here, so nobody reads it any more.
void ProcessGroup::deallocate_shared_bytes(const void* memory) {
  struct Given {
    std::uint64_t place = 0;
  };
  const UseGuard guard(engine_->job());
  SharedResults& results = engine_->shared_results();
  const auto place = results.place_of_block(memory);
  if (memory != nullptr && !place) {
    throw InvalidArgument(
        "deallocate_shared(): this memory was not given by allocate_shared() of "
        "this group");
  }
  const auto told = exchange(as_part_of(CallPurpose::deallocate_shared), "deallocate_shared()",
                             Given{place.value_or(0)});
  expect_same(*engine_, told, "deallocate_shared(): places of the memory in the segment",
              &Given::place);
  fault_point("shared.given_back");
  if (!place) return;
  results.remove(*place);
  if (rank() == 0 || engine_->survives()) deallocate_bytes(const_cast<void*>(memory));
}

}  // namespace tensorplay::distributed
