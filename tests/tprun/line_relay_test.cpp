#include "tools/tprun/line_relay.h"

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace tensorplay::tprun {
namespace {

using multiprocessing::FileDescriptor;
using multiprocessing::Pipe;

// A relay between two pipes, moved by hand.
class Bench {
 public:
  void write(std::string_view text) {
    BOOST_REQUIRE(::write(source_.write_end.get(), text.data(), text.size()) ==
                  static_cast<ssize_t>(text.size()));
    while (relay_.wants_to_read() && relay_.read_some()) {
    }
  }
  void end_source() {
    source_.write_end.close();
    relay_.read_some();
  }

  // What the output writes when it can.
  std::string next() {
    char buffer[65536];
    output_.write_some();
    const ssize_t bytes = ::read(sink_.read_end.get(), buffer, sizeof(buffer));
    return {buffer, static_cast<std::size_t>(bytes)};
  }

  LineRelay& relay() { return relay_; }
  Output& output() { return output_; }

 private:
  Pipe source_ = multiprocessing::make_pipe();
  Pipe sink_ = multiprocessing::make_pipe();
  Output output_{sink_.write_end.get()};
  LineRelay relay_{FileDescriptor(::dup(source_.read_end.get())), "[1] ", output_};
};

BOOST_AUTO_TEST_SUITE(line_relay)

BOOST_AUTO_TEST_CASE(a_line_waits_for_its_end) {
  Bench bench;
  bench.write("on");
  BOOST_TEST(bench.output().is_empty());
  bench.write("e\ntw");
  BOOST_TEST(bench.next() == "[1] one\n");
  bench.write("o\n\n");
  BOOST_TEST(bench.next() == "[1] two\n[1] \n");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_source_ends_the_last_line) {
  Bench bench;
  bench.write("last");
  bench.end_source();
  BOOST_TEST(bench.next() == "[1] last\n");
  BOOST_TEST(!bench.relay().is_open());
}

BOOST_AUTO_TEST_CASE(a_line_of_the_greatest_length_is_whole_and_a_longer_one_is_not) {
  const std::string longest(LineRelay::kLineBytesMax, 'x');
  Bench bench;
  bench.write(longest.substr(1));
  bench.write("x");
  BOOST_TEST(bench.output().is_empty());
  bench.write("y\n");
  std::string written;
  while (!bench.output().is_empty()) written += bench.next();
  BOOST_TEST((written == "[1] " + longest + "\n[1] y\n"));
}

BOOST_AUTO_TEST_CASE(bytes_of_any_value_pass) {
  Bench bench;
  bench.write(std::string_view("a\0\xff\r\n", 5));
  BOOST_TEST((bench.next() == std::string("[1] a\0\xff\r\n", 9)));
}

BOOST_AUTO_TEST_CASE(a_full_output_stops_the_reading) {
  Bench bench;
  for (int line = 0; line < 10'000 && bench.relay().wants_to_read(); ++line) {
    bench.write(std::string(1000, 'x') + "\n");
  }
  BOOST_TEST(bench.output().is_full());
  BOOST_TEST(!bench.relay().wants_to_read());
  while (!bench.output().is_empty()) bench.next();
  BOOST_TEST(bench.relay().wants_to_read());
}

BOOST_AUTO_TEST_CASE(what_is_written_at_once_ends_with_a_line) {
  Bench bench;
  for (int line = 0; line < 10; ++line) bench.write(std::string(999, 'x') + "\n");
  while (!bench.output().is_empty()) {
    const std::string piece = bench.next();
    BOOST_TEST(piece.back() == '\n');
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tprun
