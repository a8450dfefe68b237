#include "lib/distributed/environment.h"

#include "lib/distributed/job_name.h"
#include "lib/distributed/launcher_process.h"

#include <tensorplay/distributed/contributors.h>
#include <tensorplay/error.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace tensorplay::distributed {
namespace {

using Names = std::array<const char*, 4>;  // the rest null

// What a launcher calls the things that we need.
struct Launcher {
  const char* job_prefix;
  const char* rank;
  const char* world_size;
  Names local_sizes;  // how many ranks are on this host; the first one set counts
  Names host_counts;  // how many hosts; the first one set counts, unless a local size is known
  Names job_words;    // what all ranks of a job share; taken together, no other job has it
};

constexpr std::array kLaunchers{
    // The restart count: torchrun starts all ranks again under the same name.
    Launcher{"job",
             "RANK",
             "WORLD_SIZE",
             {"LOCAL_WORLD_SIZE"},
             {"GROUP_WORLD_SIZE"},
             {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"}},
    // The name space is a small number in Open MPI 4; its server's address tells two jobs apart.
    Launcher{"ompi",
             "OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE",
             {"OMPI_COMM_WORLD_LOCAL_SIZE"},
             {},
             {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
    // Intel's hydra, PALS and Slurm name their jobs; MPICH's hydra doesn't.
    Launcher{"pmi",
             "PMI_RANK",
             "PMI_SIZE",
             {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
             {"SLURM_STEP_NUM_NODES"},
             {"I_MPI_HYDRA_UUID", "PALS_APID", "PMI_JOBID"}},
    Launcher{"slurm",
             "SLURM_PROCID",
             "SLURM_NTASKS",
             {},
             {"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
             {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

constexpr const char* kHowToStart =
    "start the program with `tprun -n N -- program`, torchrun, mpirun or srun, or set RANK and "
    "WORLD_SIZE";

constexpr double kSecondsMin = 0.001;
constexpr double kSecondsMax = 1e7;  // four months

constexpr std::string_view kOneHost = "; all ranks of a job must run on one host";

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         std::string_view reason) {
  throw InvalidArgument(name + "=" + value + std::string(reason));
}

int integer(const char* name, const std::string& value) {
  int result = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  if (error != std::errc{} || stop != end) refuse(name, value, ": a whole number is needed");
  return result;
}

struct Variable {
  const char* name;
  std::string value;
};

std::optional<Variable> first_set(const Environment& environment, const Names& names) {
  for (const char* name : names) {
    if (name == nullptr) break;
    if (auto value = environment.variable(name)) return Variable{name, *value};
  }
  return std::nullopt;
}

const Launcher& launcher_of(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    if (environment.variable(launcher.rank)) return launcher;
  }
  if (const auto size = environment.variable("WORLD_SIZE")) {
    throw InvalidArgument("RANK isn't set, but WORLD_SIZE=" + *size + " is: " + kHowToStart);
  }
  throw InvalidArgument(std::string("neither RANK nor WORLD_SIZE is set: ") + kHowToStart);
}

int world_size_of(const Environment& environment, const Launcher& launcher) {
  const auto text = environment.variable(launcher.world_size);
  if (!text) {
    throw InvalidArgument(std::string(launcher.world_size) + " isn't set, but " + launcher.rank +
                          "=" + *environment.variable(launcher.rank) + " is: " + kHowToStart);
  }
  const int size = integer(launcher.world_size, *text);
  if (size < 1) refuse(launcher.world_size, *text, ": a job has at least 1 rank");
  if (size > kRankCountMax) {
    refuse(launcher.world_size, *text,
           ": a job has at most " + std::to_string(kRankCountMax) + " ranks; start fewer");
  }
  return size;
}

int rank_of(const Environment& environment, const Launcher& launcher, int world_size) {
  const std::string text = *environment.variable(launcher.rank);
  const int rank = integer(launcher.rank, text);
  if (rank < 0 || rank >= world_size) {
    refuse(launcher.rank, text,
           std::string(": with ") + launcher.world_size + "=" + std::to_string(world_size) +
               " it must be 0 ... " + std::to_string(world_size - 1));
  }
  return rank;
}

void check_one_host(const Environment& environment, const Launcher& launcher, int world_size) {
  if (const auto local = first_set(environment, launcher.local_sizes)) {
    if (integer(local->name, local->value) == world_size) return;
    refuse(local->name, local->value,
           std::string(", but ") + launcher.world_size + "=" + std::to_string(world_size) +
               std::string(kOneHost));
  }
  if (const auto hosts = first_set(environment, launcher.host_counts)) {
    if (integer(hosts->name, hosts->value) == 1) return;
    refuse(hosts->name, hosts->value, ": the job spans several hosts" + std::string(kOneHost));
  }
}

// In an allocation, but not started by srun: a program in a batch script is rank 0 of many, and the
// other ranks never come.
void check_slurm_step(const Environment& environment, const Launcher& launcher, int world_size) {
  const bool is_slurm = launcher.rank == std::string_view("SLURM_PROCID");
  if (!is_slurm || world_size == 1 || environment.variable("SLURM_STEP_ID")) return;
  throw InvalidArgument("SLURM_STEP_ID isn't set, but SLURM_NTASKS=" + std::to_string(world_size) +
                        " is: in a Slurm job start the program with srun");
}

// What the launcher tells of the job, "" if it tells nothing.
std::string told_by(const Environment& environment, const Launcher& launcher) {
  std::string words;
  for (const char* word : launcher.job_words) {
    const auto value = word == nullptr ? std::nullopt : environment.variable(word);
    if (value && !value->empty()) words += "-" + *value;
  }
  return words;
}

std::string derived_job_name(const Environment& environment, const Launcher& launcher) {
  std::string words = told_by(environment, launcher);
  if (words.empty()) words = "-" + environment.launcher(launcher.rank);
  return job_name_from(launcher.job_prefix + words);
}

// Nothing is derived from who started the ranks: by hand, that may be several shells.
std::uint64_t launch_of(const Environment& environment, const Launcher& launcher) {
  const std::string words =
      environment.variable("TENSORPLAY_LAUNCH").value_or(told_by(environment, launcher));
  return words.empty() ? 0 : launch_from(words);
}

std::string job_name_of(const Environment& environment, const Launcher& launcher) {
  const auto name = environment.variable("TENSORPLAY_JOB");
  if (!name) return derived_job_name(environment, launcher);
  try {
    check_job_name(*name);
  } catch (const InvalidArgument& error) {
    refuse("TENSORPLAY_JOB", *name, std::string(": ") + error.what());
  }
  return *name;
}

std::optional<std::chrono::milliseconds> timeout_of(const Environment& environment) {
  const char* name = "TENSORPLAY_TIMEOUT_S";
  const auto text = environment.variable(name);
  if (!text) return std::nullopt;
  double seconds = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc{} || stop != end || !(seconds >= kSecondsMin && seconds <= kSecondsMax)) {
    refuse(name, *text, ": seconds are needed, 0.001 ... 10000000, as in 300 or 0.5");
  }
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

PeerFailurePolicy peer_failure_policy_of(const Environment& environment) {
  const char* variable = "TENSORPLAY_ON_PEER_FAILURE";
  const std::string text = environment.variable(variable).value_or("raise");
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    if (text == name(policy)) return policy;
  }
  refuse(variable, text, ": raise or continue_without is needed");
}

}  // namespace

StreamingStores streaming_stores_of(const Environment& environment) {
  const char* variable = "TENSORPLAY_STREAMING_STORES";
  const std::string text = environment.variable(variable).value_or("auto");
  for (const auto choice :
       {StreamingStores::automatic, StreamingStores::never, StreamingStores::always}) {
    if (text == name(choice)) return choice;
  }
  refuse(variable, text, ": auto, never or always is needed");
}

Environment Environment::of_this_process() {
  Environment environment;
  environment.variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
  environment.launcher = launcher_process;
  return environment;
}

ProcessGroupOptions options_from(const Environment& environment) {
  ProcessGroupOptions options;
  const Launcher& launcher = launcher_of(environment);
  options.world_size = world_size_of(environment, launcher);
  options.rank = rank_of(environment, launcher, options.world_size);
  check_one_host(environment, launcher, options.world_size);
  check_slurm_step(environment, launcher, options.world_size);
  options.job_name = job_name_of(environment, launcher);
  options.launch = launch_of(environment, launcher);
  options.timeout = timeout_of(environment).value_or(options.timeout);
  options.on_peer_failure = peer_failure_policy_of(environment);
  options.streaming_stores = streaming_stores_of(environment);
  return options;
}

ProcessGroupOptions from_environment() {
  return options_from(Environment::of_this_process());
}

}  // namespace tensorplay::distributed
