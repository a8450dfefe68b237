#include "tools/tpbench/torch_join.h"

#include "tools/tpbench/program_run.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace tensorplay::tpbench {
namespace {

using Json = nlohmann::json;
using Key = std::pair<std::string, int>;

constexpr auto kImportPatience = std::chrono::minutes(1);

const std::set<Key>& expected() {
  static const std::set<Key> keys = {{"notify", 2}, {"notify", 4}, {"notify", 8}, {"throw", 2},
                                     {"throw", 4},  {"shadow", 2}, {"shadow", 4}, {"off", 2},
                                     {"on", 2},     {"uneven", 2}};
  return keys;
}

// Whether the line is as it should be.
bool read_line(const std::string& line, TorchTimes& times) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != 3) return false;
  const auto what = json.find("what"), ranks = json.find("ranks"), seconds = json.find("seconds");
  if (what == json.end() || ranks == json.end() || seconds == json.end()) return false;
  if (!what->is_string() || !ranks->is_number_integer() || !seconds->is_number()) return false;
  const Key key(what->get<std::string>(), ranks->get<int>());
  const auto value = seconds->get<double>();
  return std::isfinite(value) && value > 0 && expected().contains(key) &&
         times.emplace(key, value).second;
}

}  // namespace

std::string find_torch_python() {
  // The distribution's, which has the distribution's PyTorch, isn't always the first on the PATH.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    try {
      run_program({python, "-c", "import torch"}, kImportPatience);
      return python;
    } catch (const Error&) {
      // It hasn't.
    }
  }
  throw Error("no python3 here can import torch; run tools/setup --torch");
}

TorchTimes parse_torch_times(const std::string& output) {
  TorchTimes times;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!read_line(line, times)) {
      throw Error(fmt::format("the measuring program wrote '{}', which isn't a result", line));
    }
  }
  for (const auto& [what, ranks] : expected()) {
    if (times.contains({what, ranks})) continue;
    throw Error(fmt::format("the measuring program told no '{}' of {} ranks", what, ranks));
  }
  return times;
}

TorchTimes time_torch(const std::string& python, const std::string& script, int iterations,
                      std::chrono::milliseconds patience) {
  return parse_torch_times(run_program({python, script, std::to_string(iterations)}, patience));
}

}  // namespace tensorplay::tpbench
