// Runs out of descriptors, which the sanitizer of undefined behaviour doesn't survive: it looks at
// memory through a pipe.
#include "lib/multiprocessing/child_report.h"
#include "lib/multiprocessing/file_descriptor.h"
#include "lib/multiprocessing/run_children.h"

#include <tensorplay/error.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <filesystem>
#include <string>

namespace tensorplay::multiprocessing {
namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

BOOST_AUTO_TEST_SUITE(start_failure)

// A limit on descriptors stands for all reasons why a child can't be started.
BOOST_AUTO_TEST_CASE(if_one_cant_be_started_none_has_run) {
  const std::size_t before = open_descriptors();
  Pipe written = make_pipe();
  rlimit former{};
  ::getrlimit(RLIMIT_NOFILE, &former);
  const rlimit tight{static_cast<rlim_t>(open_descriptors() + 12), former.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &tight);
  std::string message;
  try {
    run_children(16, [&](int) { send(written.write_end.get(), {}); });
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &former);
  BOOST_TEST(message.starts_with("can't start rank "), message);
  BOOST_TEST(message.find(" of 16: ") != std::string::npos, message);
  BOOST_TEST(!receive(written.read_end.get()).has_value());
  BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);
  BOOST_TEST(open_descriptors() == before + 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
