// The streaming copy beside std::memcpy: all places in a line, lengths around lines, vector units.

#include "lib/reduce/streaming_copy.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/reduce/vector_units.h"

namespace tensorplay::reduce {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kLengths[] = {0,   1,   2,   31,  62,  63,  64,  65,  66,   95,
                                    126, 127, 128, 129, 191, 192, 193, 319, 4096, 100'001};
constexpr std::size_t kLengthMax = 100'001;
constexpr std::uint8_t kGuard = 0xa5;

std::vector<std::uint8_t> numbered_bytes() {
  std::vector<std::uint8_t> bytes(kLengthMax + 2 * kLine);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

// A line's worth of guards on both sides of where it writes.
class Destination {
 public:
  std::uint8_t* at(std::size_t offset) { return lines_ + kLine + offset; }
  void clear() { std::memset(lines_, kGuard, sizeof(lines_)); }
  bool equals(const Destination& other) const {
    return std::memcmp(lines_, other.lines_, sizeof(lines_)) == 0;
  }

 private:
  alignas(kLine) std::uint8_t lines_[kLengthMax + 3 * kLine];
};

void copy_in_both_ways(std::size_t length, std::size_t to, std::size_t from) {
  static const std::vector<std::uint8_t> source = numbered_bytes();
  static Destination have;
  static Destination want;
  have.clear();
  want.clear();
  streaming_copy(have.at(to), source.data() + from, length);
  std::memcpy(want.at(to), source.data() + from, length);
  BOOST_TEST_CONTEXT(length << " bytes from " << from << " to " << to) {
    BOOST_TEST(have.equals(want));
  }
}

BOOST_AUTO_TEST_SUITE(streaming_copies)

BOOST_AUTO_TEST_CASE(every_place_in_a_line_and_length_around_lines_copies_what_memcpy_does) {
  on_every_vector_unit([] {
    for (const std::size_t length : kLengths) {
      if (length > 4096) continue;
      for (std::size_t to = 0; to < kLine; ++to) {
        copy_in_both_ways(length, to, 0);
        copy_in_both_ways(length, to, to);
        copy_in_both_ways(length, to, (to * 5 + 3) % kLine);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(long_copies_are_whole) {
  on_every_vector_unit([] {
    for (const std::size_t to : {0, 1, 63}) copy_in_both_ways(kLengthMax, to, 2);
  });
}

BOOST_AUTO_TEST_CASE(nothing_is_copied_from_nowhere) {
  BOOST_CHECK_NO_THROW(streaming_copy(nullptr, nullptr, 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::reduce
