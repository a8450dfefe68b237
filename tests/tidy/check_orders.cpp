#include "tests/tidy/checks.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace tensorplay::tidy {
namespace {

// How far above an order its argument may stand.
constexpr std::size_t kLinesAbove = 4;

bool has_comment(const SourceFile& file, std::size_t line) {
  return file.comments()[line].find("//") != std::string::npos;
}

bool has_comment_near(const SourceFile& file, std::size_t line) {
  for (std::size_t i = line - std::min(line, kLinesAbove); i <= line; ++i) {
    if (has_comment(file, i)) return true;
  }
  return false;
}

// The arguments of a call, counted; `open` is where its parenthesis stands.
int count_arguments(const std::string& code, std::size_t open) {
  int depth = 0;
  int commas = 0;
  bool is_empty = true;
  for (std::size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0) break;
    if (c == ',' && depth == 1) ++commas;
    if (i > open && c != ' ' && c != '\n') is_empty = false;
  }
  return is_empty ? 0 : commas + 1;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

int line_at(const std::string& text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// The names of the atomic members and variables that a text declares.
std::set<std::string> atomics_of(const std::string& code) {
  static const std::regex declaration(R"(std::atomic<[^;{}()]*>+[&*]?\s+(\w+)\s*[;{,)=])");
  std::set<std::string> names;
  for (std::sregex_iterator i(code.begin(), code.end(), declaration), end; i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

}  // namespace

Findings check_orders(const SourceFile& file) {
  static const std::regex order(R"(\bmemory_order)");
  Findings findings;
  for (std::size_t i = 0; i < file.code().size(); ++i) {
    if (!std::regex_search(file.code()[i], order)) continue;
    if (has_comment_near(file, i)) continue;
    findings.push_back({file.path(), static_cast<int>(i) + 1,
                        "say why this order is enough, in a comment at most four lines above"});
  }
  return findings;
}

Findings check_default_orders(const SourceFile& file) {
  static const std::map<std::string, int> wanted = {{"load", 1},
                                                    {"store", 2},
                                                    {"exchange", 2},
                                                    {"fetch_add", 2},
                                                    {"fetch_sub", 2},
                                                    {"fetch_or", 2},
                                                    {"fetch_and", 2},
                                                    {"fetch_xor", 2},
                                                    {"test_and_set", 1},
                                                    {"compare_exchange_strong", 3},
                                                    {"compare_exchange_weak", 3}};
  static const std::regex call(
      R"((?:\.|->)(load|store|exchange|fetch_\w+|test_and_set|compare_exchange_\w+)\s*\()");
  Findings findings;
  const std::string code = joined(file.code());
  for (std::sregex_iterator i(code.begin(), code.end(), call), end; i != end; ++i) {
    const auto operation = wanted.find((*i)[1]);
    const auto open = static_cast<std::size_t>(i->position() + i->length()) - 1;
    if (operation == wanted.end() || count_arguments(code, open) >= operation->second) continue;
    findings.push_back({file.path(), line_at(code, open),
                        "name the memory order of this " + operation->first + "()"});
  }
  for (const std::string& name : atomics_of(code)) {
    const std::regex operators(R"((?:\+\+|--)\s*(?:\w+(?:\.|->))*)" + name + R"(\b(?!\s*[.(\w-]))" +
                               R"(|(?:\.|->))" + name + R"(\s*(?:\+\+|--|[-+|&^]=))");
    for (std::sregex_iterator i(code.begin(), code.end(), operators), end; i != end; ++i) {
      findings.push_back({file.path(), line_at(code, static_cast<std::size_t>(i->position())),
                          "write fetch_add() or the like, with its memory order, instead of an "
                          "operator on the atomic " +
                              name});
    }
  }
  return findings;
}

Findings check_sync_tags(const std::vector<SourceFile>& files) {
  struct Place {
    std::string path;
    int line;
  };
  std::map<std::string, std::map<std::string, Place>> sides;  // by tag, then Release or Acquire
  Findings findings;
  static const std::regex tag(R"(\bSYNC ([^.:]+)\. (Release|Acquire)\b)");
  static const std::regex any(R"(\bSYNC\b)");
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.comments().size(); ++i) {
      const std::string& comment = file.comments()[i];
      const int line = static_cast<int>(i) + 1;
      std::smatch match;
      if (std::regex_search(comment, match, tag)) {
        sides[match[1]].insert({match[2], {file.path(), line}});
      } else if (std::regex_search(comment, any)) {
        findings.push_back({file.path(), line, "write 'SYNC tag. Release: ...', or Acquire"});
      }
    }
  }
  for (const auto& [name, places] : sides) {
    if (places.size() == 2) continue;
    const auto& [side, place] = *places.begin();
    const std::string other = side == "Release" ? "Acquire" : "Release";
    findings.push_back({place.path, place.line,
                        "mark the " + other + " that goes with 'SYNC " + name + ". " + side + "'"});
  }
  return findings;
}

}  // namespace tensorplay::tidy
