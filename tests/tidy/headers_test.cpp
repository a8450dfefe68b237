// Every public header compiles on its own, without a warning.

#include "tests/tidy/source_tree.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace tensorplay::tidy {
namespace {

void expect_clean(const std::string& compiler) {
  if (!is_installed(compiler)) {
    BOOST_TEST_MESSAGE("skipped: " << compiler << " isn't installed");
    return;
  }
  const std::string top = top_folder();
  int count = 0;
  for (const SourceFile& file : read_tree(top)) {
    if (!file.is_below("include/") || !file.is_header()) continue;
    ++count;
    // Included, not compiled itself: there its #pragma once would be a warning.
    const std::string line =
        "#include <" + file.path().substr(std::string("include/").size()) + ">";
    const CommandResult result =
        run_command("echo " + quoted(line) + " | " + compiler +
                    " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -x c++ -I " +
                    quoted(top + "/include") + " -");
    BOOST_TEST(result.succeeded, file.path() << " doesn't compile on its own:\n" << result.output);
  }
  BOOST_TEST(count > 5);
}

BOOST_AUTO_TEST_SUITE(public_headers)

BOOST_AUTO_TEST_CASE(compile_on_their_own_with_gcc) {
  expect_clean("g++");
}

BOOST_AUTO_TEST_CASE(compile_on_their_own_with_clang) {
  expect_clean("clang++");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tidy
