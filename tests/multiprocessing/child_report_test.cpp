#include "lib/multiprocessing/child_report.h"

#include "lib/multiprocessing/file_descriptor.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <exception>
#include <stdexcept>
#include <string>

namespace tensorplay::multiprocessing {
namespace {

using Kind = ChildReport::Kind;

template <class Raise>
ChildReport report_of(Raise raise) {
  try {
    raise();
  } catch (...) {
    return report_current_exception();
  }
  return {};
}

void raise_peer_failure() {
  throw PeerFailure(2, PeerFailure::Cause::killed, "rank 2 is gone");
}

void raise_nested_peer_failure() {
  try {
    raise_peer_failure();
  } catch (...) {
    std::throw_with_nested(std::runtime_error("step 7 failed"));
  }
}

BOOST_AUTO_TEST_SUITE(child_report)

BOOST_AUTO_TEST_CASE(errors_of_the_library_have_their_short_names) {
  const ChildReport report = report_of([] { throw InvalidArgument("no such rank"); });
  BOOST_TEST((report.kind == Kind::raised));
  BOOST_TEST(report.text == "InvalidArgument: no such rank");
}

BOOST_AUTO_TEST_CASE(other_exceptions_have_their_whole_names) {
  BOOST_TEST(report_of([] { throw std::out_of_range("at 7"); }).text == "std::out_of_range: at 7");
}

BOOST_AUTO_TEST_CASE(what_isnt_an_exception_class_is_told_by_its_type) {
  BOOST_TEST(report_of([] { throw 7; }).text == "int, which isn't a std::exception");
}

BOOST_AUTO_TEST_CASE(a_peer_failure_is_a_kind_of_its_own_also_inside_another_exception) {
  BOOST_TEST((report_of(raise_peer_failure).kind == Kind::peer_failed));
  BOOST_TEST((report_of(raise_nested_peer_failure).kind == Kind::peer_failed));
}

BOOST_AUTO_TEST_CASE(a_report_passes_a_pipe) {
  Pipe pipe = make_pipe();
  send(pipe.write_end.get(), {Kind::peer_failed, std::string("two\nlines\0", 10)});
  const auto report = receive(pipe.read_end.get());
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST((report->kind == Kind::peer_failed));
  BOOST_TEST((report->text == std::string("two\nlines\0", 10)));
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut) {
  Pipe pipe = make_pipe();
  send(pipe.write_end.get(), {Kind::raised, std::string(100'000, 'x')});
  const auto report = receive(pipe.read_end.get());
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST((report->text == std::string(ChildReport::kTextBytesMax, 'x')));
}

BOOST_AUTO_TEST_CASE(without_a_report_nothing_is_waited_for) {
  Pipe pipe = make_pipe();
  BOOST_TEST(!receive(pipe.read_end.get()).has_value());
  pipe.write_end.close();
  BOOST_TEST(!receive(pipe.read_end.get()).has_value());
}

BOOST_AUTO_TEST_CASE(half_a_report_is_none) {
  Pipe pipe = make_pipe();
  BOOST_TEST(::write(pipe.write_end.get(), "abc", 3) == 3);
  BOOST_TEST(!receive(pipe.read_end.get()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
