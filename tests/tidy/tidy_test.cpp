// Holds the tree to its own rules. Each finding is told with its place and its remedy.

#include "tests/tidy/checks.h"
#include "tests/tidy/source_tree.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

namespace tensorplay::tidy {
namespace {

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(top_folder());
  return files;
}

std::vector<SourceFile> cpp_files(std::string_view below = "") {
  std::vector<SourceFile> files;
  for (const SourceFile& file : tree()) {
    if (file.is_cpp() && file.is_below(below)) files.push_back(file);
  }
  return files;
}

void expect_none(const Findings& findings) {
  BOOST_TEST(findings.empty(), findings.size() << " findings:\n" << to_string(findings));
}

void expect_none_in(const std::vector<SourceFile>& files, Findings (*check)(const SourceFile&)) {
  Findings all;
  for (const SourceFile& file : files) {
    const Findings findings = check(file);
    all.insert(all.end(), findings.begin(), findings.end());
  }
  expect_none(all);
}

BOOST_AUTO_TEST_SUITE(tidy)

BOOST_AUTO_TEST_CASE(the_tree_was_found) {
  BOOST_TEST(cpp_files("lib/").size() > 10U);
  BOOST_TEST(cpp_files("include/").size() > 5U);
  BOOST_TEST(cpp_files("tests/tidy/").size() > 5U);
}

BOOST_AUTO_TEST_CASE(includes_point_down_the_layers) {
  expect_none_in(cpp_files(), check_includes);
}

BOOST_AUTO_TEST_CASE(files_and_lines_are_short) {
  expect_none_in(tree(), check_sizes);
}

BOOST_AUTO_TEST_CASE(functions_fit_a_screen) {
  expect_none_in(cpp_files(), check_functions);
}

BOOST_AUTO_TEST_CASE(blanks_are_where_they_belong) {
  expect_none_in(tree(), check_blanks);
}

BOOST_AUTO_TEST_CASE(headers_say_what_they_are_for_and_guard_themselves) {
  expect_none_in(cpp_files(), check_header);
}

BOOST_AUTO_TEST_CASE(files_are_named_after_what_is_in_them) {
  expect_none_in(tree(), check_name);
}

BOOST_AUTO_TEST_CASE(nothing_is_put_off_and_nothing_tells_of_anything_else) {
  expect_none_in(tree(), check_words);
}

BOOST_AUTO_TEST_CASE(the_top_level_holds_what_it_should) {
  expect_none(check_top_level(tree()));
}

BOOST_AUTO_TEST_CASE(every_memory_order_is_argued_for) {
  expect_none_in(cpp_files(), check_orders);
}

BOOST_AUTO_TEST_CASE(no_memory_order_is_left_to_the_default) {
  expect_none_in(cpp_files("lib/"), check_default_orders);
}

BOOST_AUTO_TEST_CASE(every_acquire_has_its_release) {
  expect_none(check_sync_tags(cpp_files("lib/")));
}

BOOST_AUTO_TEST_CASE(every_file_is_formatted) {
  if (!is_installed("clang-format")) {
    BOOST_TEST_MESSAGE("skipped: clang-format isn't installed");
    return;
  }
  std::string command = "cd " + quoted(top_folder()) + " && clang-format --dry-run -Werror";
  for (const SourceFile& file : cpp_files()) command += " " + quoted(file.path());
  std::map<std::string, int> first_lines;
  for (const std::string& line : split_lines(run_command(command).output)) {
    const std::size_t colon = line.find(':');
    if (line.find(": error:") == std::string::npos) continue;
    first_lines.insert({line.substr(0, colon), std::atoi(line.c_str() + colon + 1)});
  }
  Findings findings;
  for (const auto& [path, line] : first_lines) {
    findings.push_back({path, line, "run clang-format -i " + path});
  }
  expect_none(findings);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tidy
