#include "tools/tpbench/peer_job.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace tensorplay::tpbench {
namespace {

using distributed::ReduceOp;

bool is_mpich(const std::string& peer) {
  return peer == "mpich";
}

bool is_gloo(const std::string& peer) {
  return peer == kGloo;
}

std::string launcher_of(const std::string& peer) {
  return is_mpich(peer) ? "mpirun.mpich" : "mpirun.openmpi";
}

std::string program_of(const std::string& peer) {
  return is_mpich(peer) || is_gloo(peer) ? peer : "openmpi";
}

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void append(std::vector<std::string>& words, const std::string& more) {
  std::istringstream stream(more);
  for (std::string word; stream >> word;) words.push_back(word);
}

// What Open MPI does by itself is to take whatever network there is, and to refuse more ranks than
// cores, and root.
std::string openmpi_options(const std::string& peer, bool is_oversubscribed) {
  std::string options = "--oversubscribe";
  if (peer == "openmpi_ucx") {
    options +=
        " --mca pml ucx -x UCX_TLS=self,posix,cma --mca opal_common_ucx_tls any"
        " --mca opal_common_ucx_devices any";
  } else {
    options += " --mca pml ob1 --mca btl self,vader";
  }
  options += is_oversubscribed ? " --bind-to none --mca mpi_yield_when_idle 1" : " --bind-to core";
  return options;
}

// Blocking calls only, float16 but no bfloat16, four reductions.
bool gloo_can_measure(const Point& point) {
  if (point.calls == Calls::asynchronous) return false;
  if (point.is_barrier()) return true;
  const bool is_known_op = point.op == ReduceOp::sum || point.op == ReduceOp::product ||
                           point.op == ReduceOp::min || point.op == ReduceOp::max;
  return point.dtype != DType::bfloat16 && (!point.reduces() || is_known_op);
}

}  // namespace

const std::vector<std::string>& peer_names() {
  static const std::vector<std::string> names = {"openmpi", "openmpi_ucx", "mpich", kGloo};
  return names;
}

std::string missing_of(const std::string& peer, const std::string& folder) {
  if (!is_gloo(peer) && !is_on_path(launcher_of(peer))) {
    return peer + ": " + launcher_of(peer) + " isn't installed; run tools/setup --peers";
  }
  const std::string program = (std::filesystem::path(folder) / program_of(peer)).string();
  if (::access(program.c_str(), X_OK) != 0) {
    const std::string setup = is_gloo(peer) ? "tools/setup --peers, then " : "";
    return peer + ": " + program + " isn't built; run " + setup +
           "bazel build //tools/tpbench/peers:" + program_of(peer);
  }
  return "";
}

bool can_measure(const std::string& peer, const Point& point) {
  if (is_gloo(peer)) return gloo_can_measure(point);
  const bool is_half = point.dtype == DType::float16 || point.dtype == DType::bfloat16;
  return point.is_barrier() || (!is_half && (!point.reduces() || point.op != ReduceOp::avg));
}

std::vector<std::string> peer_command(const std::string& peer, const std::string& folder, int ranks,
                                      int cpus, const std::string& rig_path) {
  const std::string program = (std::filesystem::path(folder) / program_of(peer)).string();
  if (is_gloo(peer)) return {program, rig_path};
  std::vector<std::string> command = {launcher_of(peer), "-n", std::to_string(ranks)};
  append(command, is_mpich(peer) ? "-bind-to core" : openmpi_options(peer, ranks > cpus));
  command.push_back(program);
  command.push_back(rig_path);
  return command;
}

std::unique_ptr<Job> start_peer_job(const std::string& peer, const std::string& folder, int ranks,
                                    int cpus) {
  if (const std::string missing = missing_of(peer, folder); !missing.empty()) {
    throw InvalidArgument(missing);
  }
  // Open MPI wants to be told twice that root means it.
  std::vector<std::string> environment;
  if (::geteuid() == 0) {
    environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  }
  return std::make_unique<Job>(
      peer, ranks,
      [=](const std::string& rig_path) {
        return peer_command(peer, folder, ranks, cpus, rig_path);
      },
      environment);
}

}  // namespace tensorplay::tpbench
