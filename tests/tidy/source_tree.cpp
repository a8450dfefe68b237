#include "tests/tidy/source_tree.h"

#include <fnmatch.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tensorplay::tidy {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Lines of .gitignore: "/name" at the top, "name" or "name/" anywhere.
bool is_ignored(const std::string& path, const std::vector<std::string>& patterns) {
  const std::string name = fs::path(path).filename().string();
  return std::ranges::any_of(patterns, [&](std::string pattern) {
    if (pattern.empty() || pattern[0] == '#') return false;
    if (pattern.back() == '/') pattern.pop_back();
    return pattern[0] == '/' ? fnmatch(pattern.c_str(), ("/" + path).c_str(), FNM_PATHNAME) == 0
                             : fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace

std::string top_folder() {
  const fs::path top = fs::canonical("WORKSPACE").parent_path();
  if (!fs::exists(top / "lib")) throw std::runtime_error("no tree around " + top.string());
  return top.string();
}

std::vector<SourceFile> read_tree(const std::string& top) {
  const std::vector<std::string> patterns = split_lines(read_text(fs::path(top) / ".gitignore"));
  std::vector<SourceFile> files;
  fs::recursive_directory_iterator entry(top);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = fs::relative(entry->path(), top).string();
    if (path == ".git" || entry->is_symlink() || is_ignored(path, patterns)) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      std::string text = read_text(entry->path());
      const bool is_binary = text.find('\0') != std::string::npos;
      if (!is_binary) files.emplace_back(path, std::move(text));
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> part{};
  while (const std::size_t length = fread(part.data(), 1, part.size(), pipe)) {
    result.output.append(part.data(), length);
  }
  result.succeeded = pclose(pipe) == 0;
  return result;
}

bool is_installed(const std::string& program) {
  return run_command("command -v " + program).succeeded;
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace tensorplay::tidy
