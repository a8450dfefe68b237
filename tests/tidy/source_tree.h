// The tree that this test belongs to.
#pragma once

#include "tests/tidy/source_file.h"

#include <string>
#include <vector>

namespace tensorplay::tidy {

// The top folder, found through the link to WORKSPACE that Bazel puts beside a test's data.
std::string top_folder();

// All text files of the tree, but those that git ignores; in the order of their paths.
std::vector<SourceFile> read_tree(const std::string& top);

// What a command prints, and whether it succeeded.
struct CommandResult {
  bool succeeded = false;
  std::string output;
};
CommandResult run_command(const std::string& command);

// Whether a program is installed.
bool is_installed(const std::string& program);

// `text` as one word of a shell command.
std::string quoted(const std::string& text);

}  // namespace tensorplay::tidy
