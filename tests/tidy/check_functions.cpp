#include "tests/tidy/checks.h"

#include <regex>
#include <string>
#include <vector>

namespace tensorplay::tidy {
namespace {

constexpr int kFunctionLinesMax = 70;

// Follows the braces of a C++ text, and measures what looks like a function: braces behind
// parentheses, outside of any other function.
class Braces {
 public:
  explicit Braces(const SourceFile& file) : file_(file) {}

  Findings run() {
    bool continued = false;
    for (const std::string& line : file_.code()) {
      ++line_;
      const std::size_t first = line.find_first_not_of(' ');
      const bool is_directive = continued || (first != std::string::npos && line[first] == '#');
      continued = is_directive && !line.empty() && line.back() == '\\';
      if (is_directive) continue;
      for (const char c : line) take(c);
      head_ += ' ';
    }
    return findings_;
  }

 private:
  enum class Kind { scope, function, inner };
  struct Open {
    Kind kind;
    int line;
  };

  void take(char c) {
    if (c == '{') {
      open_.push_back({kind_of_head(), line_});
      head_.clear();
    } else if (c == '}') {
      close();
      head_.clear();
    } else if (c == ';' && !inside_function()) {
      head_.clear();
    } else {
      head_ += c;
    }
  }

  bool inside_function() const { return !open_.empty() && open_.back().kind != Kind::scope; }

  Kind kind_of_head() const {
    if (inside_function()) return Kind::inner;
    static const std::regex scope(
        R"(^\s*((inline\s+)?namespace|extern|enum|(template\s*<.*>\s*)?(class|struct|union))\b)");
    static const std::regex initialiser(R"([=,(]\s*$)");
    // Between the braces of an initialiser list and those of the body stands nothing, or a comma.
    static const std::regex goes_on(R"(^\s*(,.*)?$)");
    if (after_initialiser_ && std::regex_match(head_, goes_on)) return Kind::function;
    if (std::regex_search(head_, initialiser)) return Kind::inner;
    if (std::regex_search(head_, scope)) return Kind::scope;
    return head_.find('(') != std::string::npos ? Kind::function : Kind::scope;
  }

  void close() {
    if (open_.empty()) return;
    const Open opened = open_.back();
    open_.pop_back();
    const int lines = line_ - opened.line + 1;
    after_initialiser_ = opened.kind == Kind::function && lines == 1;
    if (opened.kind != Kind::function || lines <= kFunctionLinesMax) return;
    findings_.push_back({file_.path(), opened.line,
                         "the function has " + std::to_string(lines) +
                             " lines: split it, at most " + std::to_string(kFunctionLinesMax)});
  }

  const SourceFile& file_;
  int line_ = 0;
  std::string head_;  // what was read since the last brace or end of a declaration
  bool after_initialiser_ = false;
  std::vector<Open> open_;
  Findings findings_;
};

}  // namespace

Findings check_functions(const SourceFile& file) {
  return Braces(file).run();
}

}  // namespace tensorplay::tidy
