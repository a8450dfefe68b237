// How the programs that ours is compared with are started.

#include "tools/tpbench/peer_job.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

std::string command_of(const std::string& peer, int ranks) {
  return joined(peer_command(peer, "/peers", ranks, 2, "/proc/1/fd/3"));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(peer_job)

BOOST_AUTO_TEST_CASE(with_a_core_each_ranks_are_bound_and_spin) {
  const std::string command = command_of("openmpi", 2);
  BOOST_TEST(command.starts_with("mpirun.openmpi -n 2 "));
  BOOST_TEST(contains(command, "--mca pml ob1 --mca btl self,vader "));
  BOOST_TEST(contains(command, "--bind-to core "));
  BOOST_TEST(!contains(command, "yield"));
  BOOST_TEST(command.ends_with(" /peers/openmpi /proc/1/fd/3 "));
}

BOOST_AUTO_TEST_CASE(more_ranks_than_cores_yield_and_are_not_bound) {
  for (const std::string peer : {"openmpi", "openmpi_ucx"}) {
    const std::string command = command_of(peer, 4);
    BOOST_TEST(contains(command, "--mca mpi_yield_when_idle 1 "));
    BOOST_TEST(contains(command, "--bind-to none "));
  }
}

BOOST_AUTO_TEST_CASE(ucx_is_another_way_of_the_same_program) {
  const std::string command = command_of("openmpi_ucx", 2);
  BOOST_TEST(contains(command, "--mca pml ucx -x UCX_TLS=self,posix,cma "));
  BOOST_TEST(contains(command, " /peers/openmpi "));
}

BOOST_AUTO_TEST_CASE(mpich_is_bound) {
  BOOST_TEST(command_of("mpich", 4) ==
             "mpirun.mpich -n 4 -bind-to core /peers/mpich /proc/1/fd/3 ");
}

BOOST_AUTO_TEST_CASE(gloo_starts_its_ranks_by_itself) {
  BOOST_TEST(command_of("gloo", 4) == "/peers/gloo /proc/1/fd/3 ");
}

BOOST_AUTO_TEST_CASE(what_gloo_lacks_is_not_asked_of_it) {
  BOOST_TEST(can_measure("gloo", {}));
  BOOST_TEST(can_measure("gloo", {.dtype = DType::float16}));
  BOOST_TEST(!can_measure("gloo", {.dtype = DType::bfloat16}));
  BOOST_TEST(!can_measure("gloo", {.op = distributed::ReduceOp::avg}));
  BOOST_TEST(!can_measure("gloo", {.dtype = DType::int8, .op = distributed::ReduceOp::bxor}));
  BOOST_TEST(!can_measure("gloo", {.calls = Calls::asynchronous}));
  BOOST_TEST(can_measure("gloo",
                         {.kind = distributed::CollectiveKind::barrier, .dtype = DType::bfloat16}));
}

BOOST_AUTO_TEST_CASE(what_mpi_lacks_is_not_asked_of_it) {
  BOOST_TEST(can_measure("mpich", {}));
  BOOST_TEST(!can_measure("mpich", {.dtype = DType::bfloat16}));
  BOOST_TEST(!can_measure("mpich", {.op = distributed::ReduceOp::avg}));
  BOOST_TEST(can_measure("mpich",
                         {.kind = distributed::CollectiveKind::barrier, .dtype = DType::float16}));
}

BOOST_AUTO_TEST_CASE(a_peer_that_is_not_built_is_told_with_the_remedy) {
  for (const std::string& peer : peer_names()) {
    const std::string missing = missing_of(peer, "/nowhere");
    BOOST_TEST(missing.starts_with(peer + ": "), missing);
    BOOST_TEST((contains(missing, "tools/setup --peers") ||
                contains(missing, "bazel build //tools/tpbench/peers:")),
               missing);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
