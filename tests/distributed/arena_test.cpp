// allocate() and deallocate(): pages of a rank's own part of the segment.

#include "lib/distributed/arena.h"
#include "lib/distributed/attach.h"
#include "lib/shm/layout.h"
#include "lib/shm/segment.h"
#include "tests/conformance/oracle.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::distributed {
namespace {

constexpr std::size_t kPage = shm::kPageBytes;

std::shared_ptr<shm::Segment> segment_with_pages(std::size_t pages) {
  return shm::Segment::create_anonymous({.world_size = 2, .arena_bytes = pages * kPage});
}

Arena arena_of_pages(std::size_t pages) {
  return Arena(segment_with_pages(pages), 1);
}

bool all_zero(const std::byte* memory, std::size_t bytes) {
  return std::all_of(memory, memory + bytes, [](std::byte one) { return one == std::byte{0}; });
}

std::string error_of_allocating(Arena& arena, std::size_t bytes) {
  try {
    arena.allocate(bytes);
  } catch (const SegmentError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The same by the simplest means: which pages are taken, and by what.
class Model {
 public:
  explicit Model(std::size_t pages) : taken_(pages, false) {}

  // The first place that is large enough, -1 if there is none.
  std::ptrdiff_t allocate(std::size_t pages) {
    for (std::size_t begin = 0; begin + pages <= taken_.size(); ++begin) {
      if (!is_free(begin, pages)) continue;
      set(begin, pages, true);
      return static_cast<std::ptrdiff_t>(begin);
    }
    return -1;
  }
  void deallocate(std::size_t begin, std::size_t pages) { set(begin, pages, false); }
  bool is_taken(std::size_t page) const { return taken_[page]; }

 private:
  bool is_free(std::size_t begin, std::size_t pages) const {
    for (std::size_t page = begin; page < begin + pages; ++page) {
      if (taken_[page]) return false;
    }
    return true;
  }
  void set(std::size_t begin, std::size_t pages, bool taken) {
    for (std::size_t page = begin; page < begin + pages; ++page) taken_[page] = taken;
  }

  std::vector<bool> taken_;
};

struct Piece {
  std::byte* memory;
  std::size_t bytes;
  std::size_t pages;
};

// The arena and its model, side by side.
class Pair {
 public:
  explicit Pair(std::size_t pages)
      : pages_(pages), segment_(segment_with_pages(pages)), arena_(segment_, 1), model_(pages) {}

  std::size_t pieces() const { return pieces_.size(); }

  std::string allocate(std::size_t bytes) {
    const std::size_t pages = (bytes + kPage - 1) / kPage;
    const std::ptrdiff_t place = model_.allocate(pages);
    std::byte* memory = nullptr;
    try {
      memory = arena_.allocate(bytes);
    } catch (const SegmentError&) {
      return place < 0 ? "" : "refused what fits";
    }
    if (place < 0) return "gave what doesn't fit";
    if (memory != begin() + place * static_cast<std::ptrdiff_t>(kPage)) return "another place";
    if (!all_zero(memory, bytes)) return "memory that isn't zero";
    std::memset(memory, 0xab, pages * kPage);
    pieces_.push_back({memory, bytes, pages});
    return "";
  }

  void deallocate(std::size_t index) {
    const Piece piece = pieces_[index];
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(index));
    arena_.deallocate(piece.memory);
    model_.deallocate(static_cast<std::size_t>(piece.memory - begin()) / kPage, piece.pages);
  }

  // Whether contains() agrees, page by page, and nobody's content was changed by others.
  std::string wrong() const {
    for (std::size_t page = 0; page < pages_; ++page) {
      const bool taken = arena_.contains(begin() + page * kPage, 1);
      if (taken != model_.is_taken(page)) return "contains() of page " + std::to_string(page);
    }
    for (const Piece& piece : pieces_) {
      if (!arena_.contains(piece.memory, piece.bytes)) return "contains() of a piece";
      if (piece.memory[piece.bytes - 1] != std::byte{0xab}) return "a piece was overwritten";
    }
    return "";
  }

 private:
  std::byte* begin() const { return segment_->arena(1).data(); }

  std::size_t pages_;
  std::shared_ptr<shm::Segment> segment_;
  Arena arena_;
  Model model_;
  std::vector<Piece> pieces_;
};

BOOST_AUTO_TEST_SUITE(arena)

BOOST_AUTO_TEST_CASE(memory_begins_on_a_page_and_is_zero) {
  Arena arena = arena_of_pages(64);
  for (const std::size_t bytes : {1ul, 64ul, 4095ul, 4096ul, 4097ul, 50'000ul}) {
    std::byte* memory = arena.allocate(bytes);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(memory) % kPage == 0u);
    BOOST_TEST(all_zero(memory, bytes));
    std::memset(memory, 0xff, bytes);
  }
}

BOOST_AUTO_TEST_CASE(memory_is_zero_when_it_is_had_again) {
  Arena arena = arena_of_pages(4);
  for (int i = 0; i < 20; ++i) {
    std::byte* memory = arena.allocate(4 * kPage);
    BOOST_TEST(all_zero(memory, 4 * kPage));
    std::memset(memory, 0xff, 4 * kPage);
    arena.deallocate(memory);
  }
}

BOOST_AUTO_TEST_CASE(no_bytes_are_null_and_take_nothing) {
  Arena arena = arena_of_pages(1);
  BOOST_TEST(arena.allocate(0) == nullptr);
  BOOST_CHECK_NO_THROW(arena.deallocate(nullptr));
  BOOST_TEST(arena.allocate(kPage) != nullptr);
}

BOOST_AUTO_TEST_CASE(free_neighbours_become_one_piece_in_whatever_order_they_are_given_back) {
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    Arena arena = arena_of_pages(4);
    std::vector<std::byte*> pages;
    for (int i = 0; i < 4; ++i) pages.push_back(arena.allocate(kPage));
    for (const std::size_t i : order) arena.deallocate(pages[i]);
    BOOST_TEST(error_of_allocating(arena, 4 * kPage) == "");
  } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(lack_of_room_is_told_with_the_bytes_wanted_and_free) {
  Arena arena = arena_of_pages(8);
  arena.allocate(3 * kPage);
  const std::string error = error_of_allocating(arena, 6 * kPage);
  BOOST_TEST(says(error, "allocate()"), error);
  BOOST_TEST(says(error, std::to_string(6 * kPage) + " bytes wanted"), error);
  BOOST_TEST(says(error, std::to_string(5 * kPage) + " free"), error);
  BOOST_TEST(says(error, "raise arena_bytes"), error);
  BOOST_TEST(error_of_allocating(arena, 5 * kPage) == "");
  BOOST_TEST(says(error_of_allocating(arena, 1), "0 free"));
}

BOOST_AUTO_TEST_CASE(sizes_near_the_greatest_number_are_refused_too) {
  Arena arena = arena_of_pages(2);
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {kMost, kMost - 1, kMost - kPage + 2, kMost / 2}) {
    BOOST_TEST(says(error_of_allocating(arena, bytes), "bytes wanted"), bytes);
  }
  BOOST_TEST(error_of_allocating(arena, 2 * kPage) == "");
}

BOOST_AUTO_TEST_CASE(an_arena_of_no_bytes_refuses_everything) {
  Arena arena = arena_of_pages(0);
  BOOST_TEST(says(error_of_allocating(arena, 1), "0 free"));
  BOOST_TEST(arena.allocate(0) == nullptr);
}

BOOST_AUTO_TEST_CASE(memory_that_was_not_given_is_not_taken_back) {
  Arena arena = arena_of_pages(4);
  std::byte* memory = arena.allocate(2 * kPage);
  std::byte foreign{};
  BOOST_CHECK_THROW(arena.deallocate(&foreign), InvalidArgument);
  BOOST_CHECK_THROW(arena.deallocate(memory + 64), InvalidArgument);
  BOOST_CHECK_THROW(arena.deallocate(memory + 2 * kPage), InvalidArgument);
  arena.deallocate(memory);
  BOOST_CHECK_THROW(arena.deallocate(memory), InvalidArgument);
  BOOST_TEST(arena.allocate(4 * kPage) == memory);
}

BOOST_AUTO_TEST_CASE(contains_means_the_whole_range_within_one_piece) {
  Arena arena = arena_of_pages(8);
  std::byte* first = arena.allocate(2 * kPage);
  std::byte* second = arena.allocate(kPage);
  std::byte foreign{};
  BOOST_TEST(arena.contains(first, 2 * kPage));
  BOOST_TEST(arena.contains(first + 100, 2 * kPage - 100));
  BOOST_TEST(!arena.contains(first + 100, 2 * kPage));
  BOOST_TEST(arena.contains(second, kPage));
  BOOST_TEST(!arena.contains(second + kPage, 1));
  BOOST_TEST(!arena.contains(&foreign, 1));
  BOOST_TEST(!arena.contains(nullptr, 0));
  arena.deallocate(first);
  BOOST_TEST(!arena.contains(first, 1));
  BOOST_TEST(arena.contains(second, 1));
}

BOOST_AUTO_TEST_CASE(random_pieces_lie_where_the_model_says) {
  const std::uint64_t seed = worlds::seed_of_test("random pieces");
  for (std::uint64_t run = 0; run < 20; ++run) {
    std::uint64_t random = seed + run;
    Pair pair(40);
    std::string wrong;
    for (int step = 0; step < 300 && wrong.empty(); ++step) {
      random = conformance::mix(random);
      if (random % 5 < 3 || pair.pieces() == 0) {
        wrong = pair.allocate(1 + (random >> 8) % (12 * kPage));
      } else {
        pair.deallocate((random >> 8) % pair.pieces());
      }
      if (wrong.empty()) wrong = pair.wrong();
    }
    BOOST_TEST(wrong == "", "TENSORPLAY_TEST_SEED=" << seed + run << ": " << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_group_hands_out_its_rank_s_arena) {
  const auto segment = segment_with_pages(16);
  ProcessGroup group = attach_rank(segment, 1, std::chrono::minutes(1));
  const std::span<double> values = group.allocate<double>(1000);
  BOOST_TEST(values.size() == 1000u);
  BOOST_TEST(reinterpret_cast<std::byte*>(values.data()) == segment->arena(1).data());
  BOOST_TEST(group.allocate<float>(0).empty());
  BOOST_CHECK_THROW(group.allocate<std::uint8_t>(17 * kPage), SegmentError);
  BOOST_CHECK_THROW(group.allocate<std::uint8_t>(std::numeric_limits<std::size_t>::max()), Error);
  BOOST_CHECK_THROW(group.allocate<double>(std::numeric_limits<std::size_t>::max() / 2),
                    InvalidArgument);
  BOOST_CHECK_THROW(group.deallocate(values.subspan(8)), InvalidArgument);
  group.deallocate(values);
  BOOST_TEST(group.allocate<std::uint8_t>(16 * kPage).data() != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
