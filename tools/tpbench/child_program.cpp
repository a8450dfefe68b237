#include "tools/tpbench/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tensorplay::tpbench {

void execute(const std::vector<std::string>& command, int output, int error) {
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));  // execvp doesn't write to them
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  std::perror(words[0]);
  ::_exit(127);
}

bool ends_within(const multiprocessing::ProcessHandle& process,
                 std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd end{process.descriptor(), POLLIN, 0};
    const int ready = ::poll(&end, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready >= 0) return ready == 1;
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
}

}  // namespace tensorplay::tpbench
