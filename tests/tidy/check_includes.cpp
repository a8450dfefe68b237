#include "tests/tidy/checks.h"

#include <algorithm>
#include <map>
#include <regex>
#include <string>

namespace tensorplay::tidy {
namespace {

// Lower ones first; those of one rank don't include each other.
const std::map<std::string, int>& ranks_of_layers() {
  static const std::map<std::string, int> ranks = {
      {"lib/base", 0},        {"lib/shm", 1},
      {"lib/sync", 2},        {"lib/reduce", 2},
      {"lib/collectives", 3}, {"lib/distributed", 4},
      {"lib/algorithms", 5},  {"lib/nn", 6},
      {"lib/optim", 6},       {"lib/multiprocessing", 6},
      {"lib/inspect", 5}};
  return ranks;
}

// "lib/shm" of "lib/shm/segment.h"; "tests" and "tools" stand for all that is in them.
std::string layer_of(const std::string& path) {
  const std::size_t first = path.find('/');
  const std::string top = path.substr(0, first);
  return top == "lib" ? path.substr(0, path.find('/', first + 1)) : top;
}

// Why `file` may not include `included`, a path from the top of the tree; "" if it may.
std::string reason_against(const SourceFile& file, const std::string& included) {
  const std::string from = layer_of(file.path());
  const std::string to = layer_of(included);
  if (from == to || from == "tests") return "";
  if (to == "tests") return "only tests include from tests: move what is needed below lib";
  if (to == "tools") return "only tests include from tools: move what is needed below lib";
  if (from == "include") return "public headers include public headers only: <tensorplay/...>";
  if (from == "tools") return "";
  const auto& ranks = ranks_of_layers();
  const auto from_rank = ranks.find(from);
  const auto to_rank = ranks.find(to);
  if (from_rank == ranks.end() || to_rank == ranks.end()) {
    return "give the folder a place among the layers of " + std::string("tests/tidy");
  }
  if (to_rank->second < from_rank->second) return "";
  return from + " may not include " + to + ": includes point down the layers; move the code";
}

bool starts_with(const std::string& text, std::string_view part) {
  return text.compare(0, part.size(), part) == 0;
}

std::string check_quoted(const SourceFile& file, const std::string& path) {
  if (path.find("..") != std::string::npos) return "spell the path from the top of the tree";
  if (starts_with(path, "tensorplay/")) return "include public headers as <" + path + ">";
  for (const char* top : {"lib/", "tests/", "tools/"}) {
    if (starts_with(path, top)) return reason_against(file, path);
  }
  return "spell the path from the top of the tree, or use <> for others' headers";
}

std::string check_angled(const SourceFile& file, const std::string& path) {
  for (const char* top : {"lib/", "tests/", "tools/", "include/"}) {
    if (starts_with(path, top)) return "include our own private headers with quotes";
  }
  if (starts_with(path, "boost/interprocess") && !file.is_below("lib/shm/")) {
    return "only lib/shm includes Boost.Interprocess: use lib/shm/segment.h";
  }
  const bool is_heavy = starts_with(path, "boost/") || starts_with(path, "hwy/");
  if (is_heavy && file.is_below("include/")) {
    return "users must not compile Boost or Highway: include it in a source";
  }
  return "";
}

}  // namespace

Findings check_includes(const SourceFile& file) {
  Findings findings;
  static const std::regex include(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  for (std::size_t i = 0; i < file.code().size(); ++i) {
    std::smatch match;
    // The code has blanks between quotes, so that the path is read from the line itself.
    if (file.code()[i].find('#') == std::string::npos) continue;
    if (!std::regex_search(file.lines()[i], match, include)) continue;
    const std::string remedy =
        match[1] == "\"" ? check_quoted(file, match[2]) : check_angled(file, match[2]);
    if (!remedy.empty()) findings.push_back({file.path(), static_cast<int>(i) + 1, remedy});
  }
  return findings;
}

}  // namespace tensorplay::tidy
