#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"
#include "tests/shm/job_place.h"
#include "tests/shm/own_dev_shm.h"

#include <tensorplay/error.h>

#include <sys/resource.h>
#include <sys/statfs.h>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

namespace tensorplay::shm {
namespace {

constexpr SegmentOptions kOptions{.world_size = 8, .arena_bytes = 0};

std::size_t capacity_of_dev_shm() {
  struct statfs status {};
  if (statfs("/dev/shm", &status) != 0) return 0;
  return static_cast<std::size_t>(status.f_blocks) * static_cast<std::size_t>(status.f_bsize);
}

// Runs `body` in a child that has a /dev/shm of its own, of so many pages.
std::string report_with_small_dev_shm(int pages, const std::function<std::string()>& body) {
  return testing::report_with_own_dev_shm("nr_blocks=" + std::to_string(pages), body);
}

void expect_nothing_wrong(const std::string& report) {
  if (report == testing::kSkipped) {
    BOOST_TEST_MESSAGE(report);
  } else {
    BOOST_TEST(report == "");
  }
}

// What is missing in the text of an error, "" if nothing is.
std::string lacks(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return "\"" + text + "\" lacks \"" + part + "\"";
  }
  return "";
}

// What the control blocks and the group of all ranks take.
std::size_t bytes_to_start(int ranks) {
  const Geometry g = Geometry::of(ranks, 0);
  return g.groups_offset + g.members_offset +
         static_cast<std::size_t>(ranks) * (g.member_bytes + kStagingBytes);
}

std::string make_where_nothing_fits() {
  const JobPlace place;
  try {
    Segment::create_named(place.name(), kOptions);
  } catch (const SegmentError& error) {
    if (place.taken()) return "the name is left";
    return lacks(error.what(), {std::to_string(bytes_to_start(8)) + " bytes wanted",
                                "4096 free in /dev/shm", "a job of 8 ranks", "enlarge /dev/shm"});
  }
  return "no error";
}

std::string reserve_more_than_is_left() {
  const JobPlace place;
  const auto segment = Segment::create_named(place.name(), kOptions);
  segment->reserve(segment->group_memory(0), "the group of all ranks");
  const std::size_t taken = place.bytes_taken();
  const auto staging = segment->staging(1, 0);
  try {
    segment->reserve(staging, "the staging buffers");
  } catch (const SegmentError& error) {
    if (place.bytes_taken() != taken) return "part of the memory is kept";
    segment->reserve(staging.first(2 * kPageBytes), "what does fit");
    staging[2 * kPageBytes - 1] = std::byte{1};
    return lacks(error.what(),
                 {std::to_string(kStagingBytes) + " bytes wanted", " free", "the staging buffers"});
  }
  return "no error";
}

// A limit of this process on the size of files.
std::string make_where_files_are_small() {
  const struct rlimit limit { 1 << 20, 1 << 20 };
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
  const JobPlace place;
  for (const bool named : {true, false}) {
    try {
      named ? Segment::create_named(place.name(), kOptions) : Segment::create_anonymous(kOptions);
      return "no error";
    } catch (const SegmentError& error) {
      if (place.taken()) return "the name is left";
      const std::string missing =
          lacks(error.what(), {std::to_string(Geometry::of(8, 0).segment_bytes) + " bytes",
                               "limited to 1048576", "ulimit -f"});
      if (!missing.empty()) return missing;
    }
  }
  return "";
}

std::string open_leftover_in_full_memory() {
  const JobPlace leftover;
  const JobPlace filler;
  leftover.put("", 1 << 20);
  filler.put(std::string(4 * kPageBytes, 'x'), 4 * kPageBytes);
  if (Segment::open_named(leftover.name()) != nullptr) return "opened it";
  return leftover.taken() ? "left it" : "";
}

BOOST_AUTO_TEST_SUITE(lack_of_space)

BOOST_AUTO_TEST_CASE(more_than_dev_shm_holds_is_an_error_with_the_bytes_wanted) {
  const std::size_t capacity = capacity_of_dev_shm();
  if (capacity == 0 || capacity >= std::size_t{1} << 40) {
    BOOST_TEST_MESSAGE("skipped: /dev/shm has no limit that a segment could exceed");
    return;
  }
  const JobPlace place;
  // A range larger than the whole file system is refused before any of it is taken; by the machine,
  // if that has less left than the file system.
  const std::size_t arena_bytes = capacity + kPageBytes;
  const auto segment =
      Segment::create_named(place.name(), {.world_size = 1, .arena_bytes = arena_bytes});
  BOOST_REQUIRE(segment != nullptr);
  const std::size_t taken = place.bytes_taken();
  BOOST_CHECK_EXCEPTION(
      segment->reserve(segment->arena(0), "the arena"), SegmentError, [&](const auto& error) {
        const std::string missing =
            lacks(error.what(), {std::to_string(segment->arena(0).size()) + " bytes wanted",
                                 " free in ", "the arena", "docker run --"});
        BOOST_TEST(missing == "");
        return missing.empty();
      });
  BOOST_TEST(place.bytes_taken() == taken);
}

BOOST_AUTO_TEST_CASE(where_not_even_the_control_blocks_fit_nothing_is_left) {
  expect_nothing_wrong(report_with_small_dev_shm(1, make_where_nothing_fits));
}

BOOST_AUTO_TEST_CASE(a_reservation_that_fails_takes_nothing_and_later_ones_work) {
  const int pages = static_cast<int>(bytes_to_start(8) / kPageBytes) + 10;
  expect_nothing_wrong(report_with_small_dev_shm(pages, reserve_more_than_is_left));
}

BOOST_AUTO_TEST_CASE(a_limit_on_the_size_of_files_is_an_error_and_not_a_signal) {
  testing::ChildProcess child(make_where_files_are_small);
  BOOST_TEST(child.report() == "");
}

BOOST_AUTO_TEST_CASE(a_leftover_is_found_and_removed_where_no_memory_is_free) {
  expect_nothing_wrong(report_with_small_dev_shm(4, open_leftover_in_full_memory));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
