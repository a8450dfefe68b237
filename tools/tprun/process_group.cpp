#include "tools/tprun/process_group.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace tensorplay::tprun {
namespace {

// proc(5): pid (name) state parent group ..., where the name may hold anything.
bool is_living_member(const std::filesystem::path& process, const std::vector<pid_t>& groups) {
  std::ifstream stream(process / "stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 'X';
  pid_t parent = 0, group = 0;
  fields >> state >> parent >> group;
  const bool is_member = std::find(groups.begin(), groups.end(), group) != groups.end();
  return is_member && state != 'Z' && state != 'X';
}

}  // namespace

bool any_group_lives(const std::vector<pid_t>& groups) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const bool is_process =
        std::isdigit(static_cast<unsigned char>(entry->path().filename().native().front()));
    if (is_process && is_living_member(entry->path(), groups)) return true;
  }
  return false;
}

}  // namespace tensorplay::tprun
