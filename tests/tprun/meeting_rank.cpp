// A rank that meets the others and adds up with them: "met" on standard output, or why not on
// standard error. Then it stays for as many milliseconds as its argument says.
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

using namespace tensorplay;

// Whether all ranks of the group were started together.
static bool are_of_one_launch(distributed::ProcessGroup& group, std::uint64_t launch) {
  const auto own = static_cast<std::int64_t>(launch);
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::span(&own, 1), std::span(all));
  for (const std::int64_t other : all) {
    if (other != own) return false;
  }
  return true;
}

static int meet(int stay_ms) {
  distributed::ProcessGroupOptions options = distributed::from_environment();
  options.arena_bytes = std::size_t{1} << 20;
  // What this program makes of the token must not be what the library makes of it.
  const char* launch = std::getenv("TENSORPLAY_LAUNCH");
  const std::uint64_t token = launch == nullptr ? 0 : std::strtoull(launch, nullptr, 16);
  distributed::ProcessGroup group = distributed::init_process_group(options);
  if (!are_of_one_launch(group, token)) {
    std::fputs("ranks of several launches are in one job\n", stderr);
    return 4;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(stay_ms));
  group.barrier();
  std::puts("met");
  return 0;
}

int main(int argc, char* argv[]) {
  try {
    return meet(argc > 1 ? std::atoi(argv[1]) : 0);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
