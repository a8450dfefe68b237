// What is left of memory, from files as the kernel writes them.

#include "lib/shm/available_memory.h"

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>

namespace tensorplay::shm {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// A folder with a /proc and a /sys/fs/cgroup of its own.
class FakeKernel {
 public:
  FakeKernel() {
    std::random_device random;
    root_ = std::filesystem::temp_directory_path() / ("kernel-" + std::to_string(random()));
    write("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:   1000 kB\n");
  }
  ~FakeKernel() { std::filesystem::remove_all(root_); }
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string cgroup(const std::string& path) const { return root_ / "cgroup" / path; }
  AvailableMemory available() const { return available_memory({root_ / "proc", root_ / "cgroup"}); }

 private:
  std::filesystem::path root_;
};

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(without_limits_it_is_what_the_machine_has) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "0::/user.slice\n");
  kernel.write("cgroup/user.slice/memory.max", "max\n");
  kernel.write("cgroup/user.slice/memory.current", "4096\n");
  const AvailableMemory available = kernel.available();
  BOOST_TEST(available.bytes == 1000U * 1024U);
  BOOST_TEST(available.where == "in this machine");
}

BOOST_AUTO_TEST_CASE(the_tightest_limit_of_all_ancestors_counts) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "0::/a/b/c\n");
  for (const char* folder : {"a", "a/b", "a/b/c"}) {
    kernel.write(std::string("cgroup/") + folder + "/memory.current", "200000\n");
  }
  kernel.write("cgroup/a/memory.max", "900000\n");
  kernel.write("cgroup/a/b/memory.max", "300000\n");
  kernel.write("cgroup/a/b/c/memory.max", "max\n");
  BOOST_TEST(kernel.available().bytes == 100'000U);
  BOOST_TEST(kernel.available().where == "within the limit of " + kernel.cgroup("a/b"));
}

BOOST_AUTO_TEST_CASE(from_inside_of_a_container_the_root_is_its_own_group) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "0::/docker/0123\n");
  kernel.write("cgroup/memory.max", "500000\n");
  kernel.write("cgroup/memory.current", "100000\n");
  BOOST_TEST(kernel.available().bytes == 400'000U);
  kernel.write("proc/self/cgroup", "0::/\n");
  BOOST_TEST(kernel.available().bytes == 400'000U);
}

BOOST_AUTO_TEST_CASE(version_1_has_files_of_other_names) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "7:pids:/x\n4:cpu,memory:/docker/0123\n0::/\n");
  kernel.write("cgroup/memory/docker/0123/memory.limit_in_bytes", "700000\n");
  kernel.write("cgroup/memory/docker/0123/memory.usage_in_bytes", "600000\n");
  kernel.write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  kernel.write("cgroup/memory/memory.usage_in_bytes", "600000\n");
  BOOST_TEST(kernel.available().bytes == 100'000U);
}

BOOST_AUTO_TEST_CASE(a_file_cache_that_can_be_dropped_is_free) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "0::/a\n");
  kernel.write("cgroup/a/memory.max", "500000\n");
  kernel.write("cgroup/a/memory.current", "499000\n");
  kernel.write("cgroup/a/memory.stat", "anon 1000\nfile 498000\ninactive_file 300000\n");
  BOOST_TEST(kernel.available().bytes == 301'000U);
}

BOOST_AUTO_TEST_CASE(use_beyond_the_limit_leaves_nothing) {
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "0::/a\n");
  kernel.write("cgroup/a/memory.max", "1000\n");
  kernel.write("cgroup/a/memory.current", "2000\n");
  BOOST_TEST(kernel.available().bytes == 0U);
}

BOOST_AUTO_TEST_CASE(where_nothing_tells_there_is_no_limit) {
  BOOST_TEST(available_memory({"/nowhere", "/nowhere"}).bytes == kUnlimited);
  const FakeKernel kernel;
  kernel.write("proc/self/cgroup", "no colons\n0::relative\n:::\n\n0:\n");
  kernel.write("cgroup/memory.max", "-1\n");
  BOOST_TEST(kernel.available().bytes == 1000U * 1024U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
