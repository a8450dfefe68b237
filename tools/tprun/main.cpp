// tprun: starts the ranks of a job on this host and looks after them. See settings.h and launch.h.
#include "tools/tprun/binding.h"
#include "tools/tprun/launch.h"
#include "tools/tprun/settings.h"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <exception>
#include <string>

namespace tensorplay::tprun {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

// A pipe of ours must not become somebody's standard output.
void open_missing_streams() {
  int descriptor;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  ::close(descriptor);
}

int say_error(const std::string& text, int exit_code) {
  std::fprintf(stderr, "tprun: %s\n", text.c_str());
  return exit_code;
}

int launch(const Settings& settings) {
  try {
    return Launch(settings).run();
  } catch (const ProgramError& error) {
    return say_error("can't start '" + settings.command.front() + "': " + error.code().message(),
                     kBadInput);
  } catch (const BindingError& error) {
    return say_error(error.what(), kBadInput);
  } catch (const std::exception& error) {
    return say_error(std::string("can't run the job: ") + error.what(), kFailed);
  }
}

int run(int argc, const char* const* argv) {
  try {
    return launch(parse_settings(argc, argv));
  } catch (const HelpWanted& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const UsageError& error) {
    return say_error(error.what(), kBadInput);
  }
}

}  // namespace
}  // namespace tensorplay::tprun

int main(int argc, char* argv[]) {
  tensorplay::tprun::open_missing_streams();
  return tensorplay::tprun::run(argc, argv);
}
