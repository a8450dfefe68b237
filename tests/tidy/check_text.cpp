#include "tests/tidy/checks.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>

namespace tensorplay::tidy {
namespace {

constexpr std::size_t kLinesMax = 400;
constexpr std::size_t kColumnsMax = 100;

// Characters of a UTF-8 text: all bytes but those that continue one.
std::size_t count_columns(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Prose and data have lines of their own kind.
bool is_code(const SourceFile& file) {
  return !file.has_extension(".md") && !file.has_extension(".csv");
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

Findings check_sizes(const SourceFile& file) {
  Findings findings;
  if (!is_code(file)) return findings;
  if (file.lines().size() > kLinesMax) {
    findings.push_back(
        {file.path(), static_cast<int>(kLinesMax) + 1,
         "split the file: it has " + std::to_string(file.lines().size()) + " lines, at most 400"});
  }
  for (std::size_t i = 0; i < file.lines().size(); ++i) {
    const std::size_t columns = count_columns(file.lines()[i]);
    if (columns <= kColumnsMax) continue;
    findings.push_back(
        {file.path(), static_cast<int>(i) + 1,
         "break the line: it has " + std::to_string(columns) + " columns, at most 100"});
  }
  return findings;
}

Findings check_blanks(const SourceFile& file) {
  Findings findings;
  const std::string& text = file.text();
  const int last = static_cast<int>(file.lines().size());
  for (std::size_t i = 0; i < file.lines().size(); ++i) {
    const std::string& line = file.lines()[i];
    const int number = static_cast<int>(i) + 1;
    if (line.find('\t') != std::string::npos) {
      findings.push_back({file.path(), number, "use blanks instead of tabs"});
    }
    if (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
      findings.push_back({file.path(), number, "remove the blanks at the end of the line"});
    }
  }
  if (!text.empty() && text.back() != '\n') {
    findings.push_back({file.path(), last, "end the file with a newline"});
  }
  if (text.size() > 1 && text.compare(text.size() - 2, 2, "\n\n") == 0) {
    findings.push_back({file.path(), last, "remove the empty lines at the end of the file"});
  }
  return findings;
}

Findings check_header(const SourceFile& file) {
  Findings findings;
  if (!file.is_header()) return findings;
  if (file.lines().empty() || file.lines()[0].compare(0, 2, "//") != 0) {
    findings.push_back(
        {file.path(), 1, "begin with a // comment that says what the header is for"});
  }
  // Headers of Highway's kind are included once per target, and guard themselves against more.
  const bool is_repeated =
      file.has_extension("-inl.h") && file.text().find("HWY_TARGET_TOGGLE") != std::string::npos;
  const bool has_pragma = std::ranges::any_of(
      file.lines(), [](const std::string& line) { return line == "#pragma once"; });
  if (!has_pragma && !is_repeated) findings.push_back({file.path(), 1, "add #pragma once"});
  return findings;
}

Findings check_name(const SourceFile& file) {
  static const std::set<std::string> empty = {"util",   "utils",   "utility", "utilities", "common",
                                              "helper", "helpers", "misc",    "stuff"};
  const std::string stem = lower(file.stem());
  const bool is_test_of_it = stem.size() > 5 && empty.count(stem.substr(0, stem.size() - 5)) != 0 &&
                             stem.compare(stem.size() - 5, 5, "_test") == 0;
  if (empty.count(stem) == 0 && !is_test_of_it) return {};
  return {{file.path(), 1, "name the file after what is in it"}};
}

Findings check_words(const SourceFile& file) {
  struct Unwanted {
    std::regex words;
    std::string remedy;
  };
  // Put together here so that this file doesn't contain them itself.
  const auto regex = [](const std::string& text) {
    return std::regex(text, std::regex::icase | std::regex::optimize);
  };
  static const std::array<Unwanted, 3> kUnwanted = {{
      {std::regex(std::string(R"(\b(TO)") + R"(DO|FIX)" + R"(ME|XX)" + R"(X)\b)"),
       "do it, or leave it out"},
      {regex(std::string("(^|[\\s\"'(=:])/(wo") + "rk|home|Users)/"),
       "don't name folders of one machine"},
      {regex(std::string(R"(\bissue #?[0-9]|\bthis ses)") + "sion|\\bthe assis" +
             "tant|\\bas an a" + "i\\b|language mo" + "del"),
       "speak of the project, not of how it came about"},
  }};
  Findings findings;
  for (std::size_t i = 0; i < file.lines().size(); ++i) {
    for (const Unwanted& unwanted : kUnwanted) {
      if (file.has_extension(".csv")) continue;
      if (!std::regex_search(file.lines()[i], unwanted.words)) continue;
      findings.push_back({file.path(), static_cast<int>(i) + 1, unwanted.remedy});
    }
  }
  return findings;
}

Findings check_top_level(const std::vector<SourceFile>& files) {
  static const std::set<std::string> allowed = {"WORKSPACE", "BUILD", "lib",      "include",
                                                "tests",     "tools", "README.md"};
  std::set<std::string> found;
  Findings findings;
  for (const SourceFile& file : files) {
    const std::string top = file.path().substr(0, file.path().find('/'));
    if (top[0] == '.' || allowed.count(top) != 0 || !found.insert(top).second) continue;
    findings.push_back(
        {file.path(), 1, "move " + top + " into a folder: lib, include, tests, tools"});
  }
  return findings;
}

}  // namespace tensorplay::tidy
