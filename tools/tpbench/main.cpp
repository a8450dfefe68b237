// tpbench: how fast our collectives are, beside what they compete with. See tpbench --help.

#include "tools/tpbench/check_run.h"
#include "tools/tpbench/collective_run.h"
#include "tools/tpbench/join_run.h"
#include "tools/tpbench/settings.h"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

constexpr int kError = 2;

int run(const std::vector<std::string>& arguments) {
  try {
    const Settings settings = parse_settings(arguments);
    switch (settings.mode) {
      case Mode::collectives:
        return run_collectives(settings);
      case Mode::join:
        return run_join(settings);
      case Mode::check:
        return run_check(settings);
    }
    return kError;
  } catch (const HelpWanted& help) {
    std::cout << help.what();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "tpbench: " << error.what() << std::endl;
    return kError;
  }
}

}  // namespace
}  // namespace tensorplay::tpbench

int main(int argc, char* argv[]) {
  return tensorplay::tpbench::run(std::vector<std::string>(argv + 1, argv + argc));
}
