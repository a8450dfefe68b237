#include "tests/tidy/checks.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace tensorplay::tidy {
namespace {

SourceFile source(const std::string& text) {
  return {"lib/sync/a.h", text};
}

const std::string kOrder = "  a.store(1, std::memory_order_release);\n";

BOOST_AUTO_TEST_SUITE(checks_of_orders)

BOOST_AUTO_TEST_CASE(an_order_without_an_argument_is_found) {
  BOOST_TEST(check_orders(source(kOrder)).size() == 1U);
  BOOST_TEST(
      check_orders(source("// Release.\nint a;\nint b;\nint c;\nint d;\n" + kOrder)).size() == 1U);
  BOOST_TEST(check_orders(source("\"// Release.\";\n" + kOrder)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_order_with_an_argument_is_fine) {
  BOOST_TEST(check_orders(source("// Release.\n" + kOrder)).empty());
  BOOST_TEST(check_orders(source("// Release.\nint a;\nint b;\nint c;\n" + kOrder)).empty());
  BOOST_TEST(check_orders(source("f(std::memory_order_relaxed);  // a hint\n")).empty());
  BOOST_TEST(check_orders(source("\"std::memory_order_relaxed\";\n")).empty());
}

BOOST_AUTO_TEST_CASE(an_order_left_to_the_default_is_found) {
  for (const std::string call :
       {"a.load()", "a->load( )", "a.store(1)", "a.store(f(1, 2))", "a.exchange(1)",
        "a.fetch_add(1)", "a.fetch_or({1, 2})", "a.compare_exchange_strong(b, 1)",
        "a.compare_exchange_weak(b,\n  1)", "a.test_and_set()"}) {
    BOOST_TEST(check_default_orders(source(call + ";\n")).size() == 1U, call);
  }
}

BOOST_AUTO_TEST_CASE(an_operator_on_an_atomic_is_found) {
  const std::string declared = "std::atomic<std::uint64_t> rings;\nvoid f() {\n";
  for (const std::string use : {"++bell.rings", "bell->rings++", "--rings", "a.b.rings += 1"}) {
    const Findings findings = check_default_orders(source(declared + use + ";\n}\n"));
    BOOST_TEST(findings.size() == 1U, use);
  }
  BOOST_TEST(check_default_orders(source(declared + "++rings_seen; f(rings);\n}\n")).empty());
}

BOOST_AUTO_TEST_CASE(a_named_order_is_fine) {
  for (const std::string call :
       {"a.load(order)", "a.store(1, order)", "a.fetch_add(f(1, 2), order)", "std::exchange(a, 1)",
        "a.compare_exchange_strong(b, 1,\n    order)", "loader.load_all()", "restore(1)"}) {
    BOOST_TEST(check_default_orders(source(call + ";\n")).empty(), call);
  }
}

BOOST_AUTO_TEST_CASE(an_acquire_without_its_release_is_found) {
  const SourceFile release = source("// SYNC arrival. Release: pairs with f().\n");
  const SourceFile acquire = source("// SYNC arrival. Acquire: pairs with g().\n");
  const SourceFile other = source("// SYNC departure. Acquire: pairs with g().\n");
  BOOST_TEST(check_sync_tags({release, acquire}).empty());
  BOOST_TEST(check_sync_tags({release}).size() == 1U);
  BOOST_TEST(check_sync_tags({acquire}).size() == 1U);
  BOOST_TEST(check_sync_tags({release, other}).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_tag_that_says_neither_is_found) {
  BOOST_TEST(check_sync_tags({source("// SYNC arrival: see above.\n")}).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tidy
