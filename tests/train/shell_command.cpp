#include "tests/train/shell_command.h"

#include "tests/train/temporary_folder.h"

#include <sys/wait.h>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tensorplay::train {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

Outcome run_shell(const std::string& command) {
  const TemporaryFolder folder;
  const auto output = folder / "output", error = folder / "error";
  const int status =
      std::system(("(" + command + ") >" + output.string() + " 2>" + error.string()).c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, content(output), content(error)};
}

}  // namespace tensorplay::train
