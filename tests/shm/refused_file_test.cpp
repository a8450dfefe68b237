// Files under a segment's name that aren't one, or not ours.

#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"
#include "tests/shm/job_place.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

namespace tensorplay::shm {
namespace {

constexpr SegmentOptions kOptions{.world_size = 2, .arena_bytes = 64 * 1024};

// Why the file is refused; "" if it isn't.
std::string refusal(const JobPlace& place, const SegmentOptions& options = kOptions) {
  try {
    const auto found = Segment::open_named(place.name());
    if (found) found->expect(options);
  } catch (const SegmentError& error) {
    return error.what();
  }
  return "";
}

// Why a segment of ours is refused after `change` of its header.
std::string refusal_after(const std::function<void(SegmentHeader&)>& change) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  change(made->header());
  made->publish();
  return refusal(place);
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(refused_file)

BOOST_AUTO_TEST_CASE(a_file_of_something_else_is_refused_and_left_alone) {
  const JobPlace place;
  place.put("somebody's letters", 1 << 20);
  BOOST_TEST(says(refusal(place), "isn't a segment of this library"));
  BOOST_TEST(says(refusal(place), place.path()));
  BOOST_TEST(says(refusal(place), "choose another job name"));
  BOOST_TEST(place.taken());
}

BOOST_AUTO_TEST_CASE(a_file_too_small_for_a_header_is_refused_and_left_alone) {
  const JobPlace place;
  place.put("x", 1);
  BOOST_TEST(says(refusal(place), "isn't a segment of this library"));
  BOOST_TEST(place.taken());
}

BOOST_AUTO_TEST_CASE(a_file_that_others_may_use_is_refused) {
  for (const mode_t mode : {0640, 0604, 0606, 0666}) {
    const JobPlace place;
    Segment::create_named(place.name(), kOptions)->publish();
    BOOST_REQUIRE(chmod(place.path().c_str(), mode) == 0);
    BOOST_TEST(says(refusal(place), "others than its owner may use it"));
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_refused) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  if (chown(place.path().c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can give a file away");
    return;
  }
  BOOST_TEST(says(refusal(place), "another user"));
}

BOOST_AUTO_TEST_CASE(another_layout_is_refused_with_both_versions) {
  const std::string text = refusal_after([](SegmentHeader& header) { header.layout_version = 77; });
  BOOST_TEST(says(text, "version 77"));
  BOOST_TEST(says(text, "this program's " + std::to_string(kLayoutVersion)));
}

BOOST_AUTO_TEST_CASE(a_segment_for_another_number_of_ranks_is_refused_with_both) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  const std::string text = refusal(place, {.world_size = 3, .arena_bytes = kOptions.arena_bytes});
  BOOST_TEST(says(text, "made for 2 ranks"));
  BOOST_TEST(says(text, "expects 3"));
}

BOOST_AUTO_TEST_CASE(a_segment_with_other_arenas_is_refused_with_both_sizes) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  const std::string text = refusal(place, {.world_size = 2, .arena_bytes = 128 * 1024});
  BOOST_TEST(says(text, std::to_string(64 * 1024)));
  BOOST_TEST(says(text, std::to_string(128 * 1024)));
}

BOOST_AUTO_TEST_CASE(a_segment_with_another_policy_for_failures_is_refused_with_both) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  SegmentOptions surviving = kOptions;
  surviving.on_peer_failure = distributed::PeerFailurePolicy::continue_without;
  const std::string text = refusal(place, surviving);
  BOOST_TEST(says(text, "its ranks raise"));
  BOOST_TEST(says(text, "would continue_without"));
}

BOOST_AUTO_TEST_CASE(a_header_with_an_unknown_policy_for_failures_is_refused) {
  BOOST_TEST(says(refusal_after([](SegmentHeader& header) {
                    header.on_peer_failure = static_cast<distributed::PeerFailurePolicy>(7);
                  }),
                  "no such policy"));
}

BOOST_AUTO_TEST_CASE(a_segment_with_another_choice_of_streaming_stores_is_refused_with_both) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  SegmentOptions streaming = kOptions;
  streaming.streaming_stores = distributed::StreamingStores::always;
  const std::string text = refusal(place, streaming);
  BOOST_TEST(says(text, "its streaming stores are 'auto'"));
  BOOST_TEST(says(text, "this rank's 'always'"));
}

BOOST_AUTO_TEST_CASE(a_header_with_an_unknown_choice_of_streaming_stores_is_refused) {
  BOOST_TEST(says(refusal_after([](SegmentHeader& header) {
                    header.streaming_stores = static_cast<distributed::StreamingStores>(3);
                  }),
                  "no such choice"));
}

BOOST_AUTO_TEST_CASE(a_header_with_a_wrong_size_is_refused) {
  BOOST_TEST(says(refusal_after([](SegmentHeader& header) { header.segment_bytes += kPageBytes; }),
                  "its size is"));
}

BOOST_AUTO_TEST_CASE(a_file_that_was_cut_is_refused_before_anything_behind_is_touched) {
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  BOOST_REQUIRE(truncate(place.path().c_str(), 2 * kPageBytes) == 0);
  BOOST_TEST(says(refusal(place), "its size is 8192 bytes"));
}

BOOST_AUTO_TEST_CASE(a_wrong_magic_number_is_refused) {
  BOOST_TEST(says(refusal_after([](SegmentHeader& header) { header.magic ^= 1; }),
                  "isn't a segment of this library"));
}

// What lies at the place is neither waited for, nor followed, nor removed.
BOOST_AUTO_TEST_CASE(a_fifo_a_folder_and_a_link_are_refused_and_left_alone) {
  const JobPlace target;
  Segment::create_named(target.name(), kOptions)->publish();
  using Maker = std::function<int(const char*)>;
  const std::pair<Maker, const char*> makers[] = {
      {[](const char* path) { return mkfifo(path, 0600); }, "it isn't a plain file"},
      {[](const char* path) { return mkdir(path, 0700); }, "can't be opened as a file"},
      {[&](const char* path) { return symlink(target.path().c_str(), path); },
       "can't be opened as a file"},
      {[](const char* path) { return symlink("nothing", path); }, "can't be opened as a file"},
  };
  for (const auto& [make, reason] : makers) {
    const JobPlace place;
    BOOST_REQUIRE(make(place.path().c_str()) == 0);
    const std::string text = refusal(place);
    BOOST_TEST(says(text, place.path() + " is refused"), text);
    BOOST_TEST(says(text, reason), text);
    BOOST_CHECK(Segment::create_named(place.name(), kOptions) == nullptr);
    struct stat status {};
    BOOST_TEST(lstat(place.path().c_str(), &status) == 0);
    std::filesystem::remove(place.path());
  }
  BOOST_TEST(target.taken());
}

BOOST_AUTO_TEST_CASE(a_user_is_told_that_the_file_is_another_user_s) {
  if (geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can be two users");
    return;
  }
  const JobPlace place;
  Segment::create_named(place.name(), kOptions)->publish();
  testing::ChildProcess nobody([&]() -> std::string {
    constexpr uid_t kNobody = 65534;
    return setresuid(kNobody, kNobody, kNobody) == 0 ? refusal(place) : "can't be nobody";
  });
  const std::string text = nobody.report();
  BOOST_TEST(says(text, "it belongs to another user"), text);
  BOOST_TEST(place.taken());
}

BOOST_AUTO_TEST_CASE(another_start_of_the_job_is_refused_and_an_untold_one_isn_t) {
  const JobPlace place;
  SegmentOptions options = kOptions;
  options.launch = 7;
  Segment::create_named(place.name(), options)->publish();
  BOOST_TEST(refusal(place, options) == "");
  BOOST_TEST(refusal(place, kOptions) == "");
  options.launch = 8;
  const std::string text = refusal(place, options);
  BOOST_TEST(says(text, "another start of a job of this name"), text);
  BOOST_TEST(says(text, "choose another job name"), text);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_later_is_noticed) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  made->publish();
  BOOST_CHECK_NO_THROW(made->expect_whole());
  BOOST_REQUIRE(truncate(place.path().c_str(), 2 * kPageBytes) == 0);
  BOOST_CHECK_EXCEPTION(made->expect_whole(), SegmentError, [](const auto& error) {
    return says(error.what(), "was cut to 8192 bytes");
  });
}

BOOST_AUTO_TEST_CASE(anonymous_memory_can_not_be_cut) {
  const auto made = Segment::create_anonymous(kOptions);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (says(std::filesystem::read_symlink(entry, ignored).string(), "memfd:tensorplay")) {
      BOOST_TEST(truncate(entry.path().c_str(), 0) == -1);
    }
  }
  BOOST_CHECK_NO_THROW(made->expect_whole());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
