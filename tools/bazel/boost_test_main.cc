// main() of every test program: Boost.Test's own, with the project's defaults put before the
// arguments given.

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

bool name_module() {
  auto& module = boost::unit_test::framework::master_test_suite();
  module.p_name.value = std::filesystem::path(module.argv[0]).filename().string();
  return true;
}

std::vector<std::string> defaults() {
  // Tests fork children that die on purpose, and sanitizers have signal handlers of their own:
  // Boost.Test must neither take a dead child for a failure nor catch the signal of a crash.
  std::vector<std::string> arguments{"--catch_system_errors=no"};
  // Under Bazel the log on stdout names each case as it starts, so that a crash tells where, and
  // the results go to the file that Bazel asks for, case by case with the assertions that failed.
  if (const char* xml = std::getenv("XML_OUTPUT_FILE"); xml != nullptr && *xml != '\0') {
    arguments.push_back(std::string("--logger=HRF,test_suite,stdout:JUNIT,message,") + xml);
    // The file is this program's alone: a test program that this one starts must not write to it.
    unsetenv("XML_OUTPUT_FILE");
  }
  return arguments;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::vector<std::string> added = defaults();
  std::vector<char*> arguments{argv[0]};
  for (std::string& argument : added) arguments.push_back(argument.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return boost::unit_test::unit_test_main(&name_module, count, arguments.data());
}
