// Each check finds what it is for: a check that finds nothing would look like a tidy tree.

#include "tests/tidy/checks.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace tensorplay::tidy {
namespace {

SourceFile source(const std::string& text, const std::string& path = "lib/nn/matrix.cpp") {
  return {path, text};
}

// A function of so many lines, braces included.
std::string function_of(int lines, const std::string& head = "void f() {") {
  std::string text = head + "\n";
  for (int i = 2; i < lines; ++i) text += "  g();\n";
  return text + "}\n";
}

BOOST_AUTO_TEST_SUITE(checks_of_shape)

BOOST_AUTO_TEST_CASE(a_finding_names_file_line_and_remedy) {
  const Findings findings = check_blanks(source("int a;\nint b; \n"));
  BOOST_TEST(to_string(findings) ==
             "lib/nn/matrix.cpp:2: remove the blanks at the end of the line\n");
}

BOOST_AUTO_TEST_CASE(long_files_are_found) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "int a;\n";
  BOOST_TEST(check_sizes(source(text)).empty());
  BOOST_TEST(check_sizes(source(text + "int b;\n")).size() == 1U);
  BOOST_TEST(check_sizes(source(text + "1,2\n", "tools/train/data.csv")).empty());
}

BOOST_AUTO_TEST_CASE(long_lines_are_found_by_their_columns) {
  BOOST_TEST(check_sizes(source(std::string(100, 'x') + "\n")).empty());
  BOOST_TEST(check_sizes(source(std::string(101, 'x') + "\n")).size() == 1U);
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xC3\xA4";
  BOOST_TEST(check_sizes(source(umlauts + "\n")).empty());
}

BOOST_AUTO_TEST_CASE(long_functions_are_found) {
  BOOST_TEST(check_functions(source(function_of(70))).empty());
  const Findings findings = check_functions(source("\n" + function_of(71)));
  BOOST_REQUIRE(findings.size() == 1U);
  BOOST_TEST(findings[0].line == 2);
}

BOOST_AUTO_TEST_CASE(long_functions_are_found_wherever_they_stand) {
  for (const std::string before :
       {"namespace a {\n", "class A {\n", "struct A : B<int> {\n",
        "template <typename T>\nclass A {\n", "namespace a {\nnamespace {\nclass A final {\n"}) {
    BOOST_TEST(check_functions(source(before + function_of(71) + "}\n")).size() == 1U, before);
  }
  for (const std::string head :
       {"A::A() : b_{1}, c_(2) {", "auto A::f(int a,\n  int b) const -> int {",
        "BOOST_AUTO_TEST_CASE(a_sentence) {", "bool operator==(A, A) {",
        "template <typename T>\nT f() {"}) {
    BOOST_TEST(check_functions(source(function_of(71, head))).size() == 1U, head);
  }
}

BOOST_AUTO_TEST_CASE(long_classes_tables_and_namespaces_are_no_functions) {
  for (const std::string head : {"namespace a {", "class A {", "enum class A : int {",
                                 "constexpr int a[] = {", "struct alignas(64) A {"}) {
    BOOST_TEST(check_functions(source(function_of(100, head))).empty(), head);
  }
}

BOOST_AUTO_TEST_CASE(braces_in_strings_comments_and_directives_do_not_count) {
  const std::string text =
      "#define A \\\n  {\nvoid f() {\n  // {\n  g(\"{\", '{', R\"x({)x\");\n}\n";
  BOOST_TEST(check_functions(source(text + function_of(70))).empty());
  BOOST_TEST(check_functions(source(text + function_of(71))).size() == 1U);
}

BOOST_AUTO_TEST_CASE(tabs_trailing_blanks_and_bad_ends_are_found) {
  BOOST_TEST(check_blanks(source("int a;\n")).empty());
  for (const std::string text : {"\tint a;\n", "int a; \n", "int a;\r\n", "int a;", "int a;\n\n"}) {
    BOOST_TEST(check_blanks(source(text)).size() == 1U, text);
  }
}

BOOST_AUTO_TEST_CASE(headers_without_comment_or_guard_are_found) {
  const auto count = [](const std::string& text, const std::string& path) {
    return check_header(source(text, path)).size();
  };
  BOOST_TEST(count("// A.\n#pragma once\n", "lib/nn/a.h") == 0U);
  BOOST_TEST(count("#pragma once\n", "lib/nn/a.h") == 1U);
  BOOST_TEST(count("// A.\n", "lib/nn/a.h") == 1U);
  BOOST_TEST(count("", "lib/nn/a.h") == 2U);
  BOOST_TEST(count("int a;\n", "lib/nn/a.cpp") == 0U);
  BOOST_TEST(count("// A.\n#ifdef HWY_TARGET_TOGGLE\n", "lib/nn/a-inl.h") == 0U);
  BOOST_TEST(count("// A.\n", "lib/nn/a-inl.h") == 1U);
}

BOOST_AUTO_TEST_CASE(names_that_say_nothing_are_found) {
  for (const char* name :
       {"util.h", "utils.cpp", "common.h", "helpers.h", "misc.cc", "Utils_test.cpp"}) {
    BOOST_TEST(check_name(source("", std::string("lib/nn/") + name)).size() == 1U, name);
  }
  BOOST_TEST(check_name(source("", "lib/nn/common_divisor.h")).empty());
}

BOOST_AUTO_TEST_CASE(reminders_machines_and_talk_are_found) {
  // In two parts each, so that this file doesn't contain them.
  for (const std::string& text :
       {std::string("// TO") + "DO: later", std::string("// FIX") + "ME",
        std::string("open(\"/wo") + "rk/main\")", std::string("cd /ho") + "me/me/tree",
        std::string("// see issu") + "e 7", std::string("// Issu") + "e #12 asks",
        std::string("// this se") + "ssion"}) {
    BOOST_TEST(check_words(source(text + "\n")).size() == 1U, text);
  }
  BOOST_TEST(
      check_words(source("// A tissue of 3 layers; lib/framework/a.h; a todo list\n")).empty());
}

BOOST_AUTO_TEST_CASE(strangers_at_the_top_are_found) {
  BOOST_TEST(check_top_level({source("", "README.md"), source("", "lib/a.h"),
                              source("", ".bazelrc"), source("", ".ci/run")})
                 .empty());
  BOOST_TEST(check_top_level({source("", "notes.txt")}).size() == 1U);
  BOOST_TEST(check_top_level({source("", "src/a.h"), source("", "src/b.h")}).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tidy
