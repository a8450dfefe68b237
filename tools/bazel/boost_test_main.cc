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

// The log for people goes to stdout and names each case as it starts, so that a crash tells where.
// Bazel's test.xml ($XML_OUTPUT_FILE) gets one entry per case, with the assertions that failed.
std::string loggers() {
  std::string value = "--logger=HRF,test_suite,stdout";
  if (const char* xml = std::getenv("XML_OUTPUT_FILE"); xml != nullptr && *xml != '\0') {
    value += ":JUNIT,message,";
    value += xml;
  }
  return value;
}

}  // namespace

int main(int argc, char* argv[]) {
  // Tests fork children that die on purpose, and sanitizers have signal handlers of their own:
  // Boost.Test must neither take a dead child for a failure nor catch the signal of a crash.
  std::string catch_no_signals = "--catch_system_errors=no";
  std::string log_to_both = loggers();
  std::vector<char*> arguments{argv[0], catch_no_signals.data(), log_to_both.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return boost::unit_test::unit_test_main(&name_module, count, arguments.data());
}
