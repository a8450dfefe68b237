#include "lib/distributed/environment.h"
#include "lib/distributed/job_name.h"
#include "lib/distributed/launcher_process.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace tensorplay::distributed {

using Table = std::map<std::string, std::string>;

static Environment environment_of(const Table& table) {
  Environment environment;
  environment.variable = [table](const char* name) -> std::optional<std::string> {
    const auto entry = table.find(name);
    if (entry == table.end()) return std::nullopt;
    return entry->second;
  };
  environment.launcher = [](const char* variable) {
    return "started-with-" + std::string(variable);
  };
  return environment;
}

static ProcessGroupOptions options_of(const Table& table) {
  return options_from(environment_of(table));
}

struct Place {
  const char* name;
  Table table;
  int rank;
  int world_size;
  const char* job_name;

  friend std::ostream& operator<<(std::ostream& out, const Place& place) {
    return out << place.name;
  }
};

struct Refusal {
  const char* name;
  Table table;
  std::vector<std::string> words;  // all in the message

  friend std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << refusal.name;
  }
};

static const std::vector<Place> kPlaces{
    {"tprun",
     {{"TENSORPLAY_JOB", "j.1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}},
     1,
     2,
     "j.1"},
    {"torchrun",
     {{"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_WORLD_SIZE", "4"},
      {"GROUP_WORLD_SIZE", "1"},
      {"TORCHELASTIC_RUN_ID", "none"},
      {"TORCHELASTIC_RESTART_COUNT", "2"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "29500"}},
     3,
     4,
     "job-none-2-127.0.0.1-29500"},
    {"by hand", {{"RANK", "0"}, {"WORLD_SIZE", "256"}}, 0, 256, "job-started-with-RANK"},
    {"by hand with a job",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_JOB", "mine"}},
     0,
     1,
     "mine"},
    {"Open MPI 5",
     {{"OMPI_COMM_WORLD_RANK", "0"},
      {"OMPI_COMM_WORLD_SIZE", "8"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"},
      {"PMIX_NAMESPACE", "prterun-host-77_1"}},
     0,
     8,
     "ompi-prterun-host-77_1"},
    {"MPICH",
     {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}},
     1,
     2,
     "pmi-started-with-PMI_RANK"},
    {"Intel MPI",
     {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"I_MPI_HYDRA_UUID", "ab12"}},
     1,
     2,
     "pmi-ab12"},
    {"MPICH on one node of a larger allocation",
     {{"PMI_RANK", "1"},
      {"PMI_SIZE", "2"},
      {"MPI_LOCALNRANKS", "2"},
      {"SLURM_STEP_NUM_NODES", "3"}},
     1,
     2,
     "pmi-started-with-PMI_RANK"},
    {"srun",
     {{"SLURM_PROCID", "2"},
      {"SLURM_NTASKS", "3"},
      {"SLURM_STEP_NUM_NODES", "1"},
      {"SLURM_NNODES", "5"},
      {"SLURM_JOB_ID", "100"},
      {"SLURM_STEP_ID", "7"}},
     2,
     3,
     "slurm-100-7"},
    {"torchrun inside srun",
     {{"RANK", "1"},
      {"WORLD_SIZE", "2"},
      {"MASTER_PORT", "1"},
      {"SLURM_PROCID", "0"},
      {"SLURM_NTASKS", "1"}},
     1,
     2,
     "job-1"},
    {"tprun inside torchrun",
     {{"TENSORPLAY_JOB", "inner"},
      {"RANK", "1"},
      {"WORLD_SIZE", "2"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"GROUP_WORLD_SIZE", "2"}},
     1,
     2,
     "inner"},
};

static const std::vector<Refusal> kRefusals{
    {"nothing set", {}, {"RANK", "WORLD_SIZE", "tprun -n N -- program", "torchrun", "mpirun"}},
    {"size missing", {{"RANK", "1"}}, {"WORLD_SIZE isn't set", "RANK=1", "tprun"}},
    {"rank missing", {{"WORLD_SIZE", "2"}}, {"RANK isn't set", "WORLD_SIZE=2", "tprun"}},
    {"size not a number", {{"RANK", "0"}, {"WORLD_SIZE", "two"}}, {"WORLD_SIZE=two", "number"}},
    {"size with a unit", {{"RANK", "0"}, {"WORLD_SIZE", "2x"}}, {"WORLD_SIZE=2x", "number"}},
    {"size empty", {{"RANK", "0"}, {"WORLD_SIZE", ""}}, {"WORLD_SIZE=", "number"}},
    {"size beyond int", {{"RANK", "0"}, {"WORLD_SIZE", "9999999999"}}, {"9999999999", "number"}},
    {"size 0", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}, {"WORLD_SIZE=0", "at least 1"}},
    {"size negative", {{"RANK", "0"}, {"WORLD_SIZE", "-4"}}, {"WORLD_SIZE=-4", "at least 1"}},
    {"size too great", {{"RANK", "0"}, {"WORLD_SIZE", "257"}}, {"WORLD_SIZE=257", "at most 256"}},
    {"rank not a number", {{"RANK", " 1"}, {"WORLD_SIZE", "2"}}, {"RANK= 1", "number"}},
    {"rank negative", {{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, {"RANK=-1", "0 ... 1"}},
    {"rank too great", {{"RANK", "4"}, {"WORLD_SIZE", "4"}}, {"RANK=4", "WORLD_SIZE=4", "0 ... 3"}},
    {"torchrun on two hosts",
     {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}},
     {"LOCAL_WORLD_SIZE=2", "WORLD_SIZE=4", "one host"}},
    {"torchrun with two groups",
     {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"GROUP_WORLD_SIZE", "2"}},
     {"GROUP_WORLD_SIZE=2", "one host"}},
    {"local size not a number",
     {{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "all"}},
     {"LOCAL_WORLD_SIZE=all", "number"}},
    {"mpirun on two hosts",
     {{"OMPI_COMM_WORLD_RANK", "0"},
      {"OMPI_COMM_WORLD_SIZE", "4"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
     {"OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_SIZE=4", "one host"}},
    {"mpiexec on two hosts",
     {{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "1"}},
     {"MPI_LOCALNRANKS=1", "PMI_SIZE=4", "one host"}},
    {"srun on two hosts",
     {{"SLURM_PROCID", "0"},
      {"SLURM_NTASKS", "4"},
      {"SLURM_NNODES", "2"},
      {"SLURM_JOB_ID", "1"},
      {"SLURM_STEP_ID", "0"}},
     {"SLURM_NNODES=2", "one host"}},
    {"batch script without srun",
     {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "1"}},
     {"SLURM_STEP_ID", "srun"}},
    {"time-out malformed",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_TIMEOUT_S", "5m"}},
     {"TENSORPLAY_TIMEOUT_S=5m", "seconds"}},
    {"time-out 0",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_TIMEOUT_S", "0"}},
     {"TENSORPLAY_TIMEOUT_S=0", "seconds"}},
    {"time-out not finite",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_TIMEOUT_S", "nan"}},
     {"TENSORPLAY_TIMEOUT_S=nan", "seconds"}},
    {"policy unknown",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_ON_PEER_FAILURE", "ignore"}},
     {"TENSORPLAY_ON_PEER_FAILURE=ignore", "continue_without"}},
    {"streaming stores unknown",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_STREAMING_STORES", "yes"}},
     {"TENSORPLAY_STREAMING_STORES=yes", "auto, never or always"}},
    {"streaming stores empty",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_STREAMING_STORES", ""}},
     {"TENSORPLAY_STREAMING_STORES=", "auto, never or always"}},
    {"job with a slash",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_JOB", "a/b"}},
     {"TENSORPLAY_JOB=a/b", "'/'", "position 1", "letters, digits"}},
    {"job empty",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_JOB", ""}},
     {"TENSORPLAY_JOB=", "empty"}},
};

static std::string message_of(const Table& table) {
  try {
    options_of(table);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(environment)

BOOST_DATA_TEST_CASE(each_launcher_tells_rank_size_and_job, kPlaces, place) {
  const ProcessGroupOptions options = options_of(place.table);
  BOOST_TEST(options.rank == place.rank);
  BOOST_TEST(options.world_size == place.world_size);
  BOOST_TEST(options.job_name == place.job_name);
}

BOOST_DATA_TEST_CASE(what_cant_be_right_is_refused_in_one_line, kRefusals, refusal) {
  const std::string message = message_of(refusal.table);
  for (const std::string& word : refusal.words) {
    BOOST_TEST((message.find(word) != std::string::npos), message << " lacks " << word);
  }
  BOOST_TEST((message.find('\n') == std::string::npos));
}

BOOST_AUTO_TEST_CASE(the_timeout_is_read_in_seconds) {
  Table table{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  BOOST_TEST((options_of(table).timeout == std::chrono::minutes(5)));
  table["TENSORPLAY_TIMEOUT_S"] = "90";
  BOOST_TEST((options_of(table).timeout == std::chrono::seconds(90)));
  table["TENSORPLAY_TIMEOUT_S"] = "0.25";
  BOOST_TEST((options_of(table).timeout == std::chrono::milliseconds(250)));
}

BOOST_AUTO_TEST_CASE(the_policy_for_failures_is_read_by_its_name) {
  Table table{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  BOOST_TEST((options_of(table).on_peer_failure == PeerFailurePolicy::raise));
  table["TENSORPLAY_ON_PEER_FAILURE"] = "continue_without";
  BOOST_TEST((options_of(table).on_peer_failure == PeerFailurePolicy::continue_without));
}

BOOST_AUTO_TEST_CASE(the_choice_of_streaming_stores_is_read_by_its_name) {
  Table table{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  BOOST_TEST((options_of(table).streaming_stores == StreamingStores::automatic));
  table["TENSORPLAY_STREAMING_STORES"] = "never";
  BOOST_TEST((options_of(table).streaming_stores == StreamingStores::never));
  table["TENSORPLAY_STREAMING_STORES"] = "always";
  BOOST_TEST((options_of(table).streaming_stores == StreamingStores::always));
  table["TENSORPLAY_STREAMING_STORES"] = "auto";
  BOOST_TEST((options_of(table).streaming_stores == StreamingStores::automatic));
}

BOOST_AUTO_TEST_CASE(a_uri_becomes_a_right_job_name_that_still_differs_from_others) {
  Table table{{"OMPI_COMM_WORLD_RANK", "0"},
              {"OMPI_COMM_WORLD_SIZE", "1"},
              {"OMPI_MCA_orte_hnp_uri", "1.0;tcp://10.0.0.1,10.0.0.2:40000"}};
  const std::string one = options_of(table).job_name;
  table["OMPI_MCA_orte_hnp_uri"] = "1.0;tcp:/|10.0.0.1,10.0.0.2:40000";
  const std::string other = options_of(table).job_name;
  BOOST_CHECK_NO_THROW(check_job_name(one));
  BOOST_CHECK_NO_THROW(check_job_name(other));
  BOOST_TEST(one != other);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(job_name)

BOOST_AUTO_TEST_CASE(names_of_right_characters_pass) {
  BOOST_CHECK_NO_THROW(check_job_name("a"));
  BOOST_CHECK_NO_THROW(check_job_name("Run_7.b-Z"));
  BOOST_CHECK_NO_THROW(check_job_name(std::string(kJobNameBytesMax, 'x')));
}

BOOST_AUTO_TEST_CASE(other_names_are_refused) {
  BOOST_CHECK_THROW(check_job_name(""), InvalidArgument);
  BOOST_CHECK_THROW(check_job_name("../x"), InvalidArgument);
  BOOST_CHECK_THROW(check_job_name("a b"), InvalidArgument);
  BOOST_CHECK_THROW(check_job_name(std::string("a\0b", 3)), InvalidArgument);
  BOOST_CHECK_THROW(check_job_name("gr\xc3\xbc\xc3\x9f"), InvalidArgument);
  BOOST_CHECK_THROW(check_job_name(std::string(kJobNameBytesMax + 1, 'x')), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(a_right_text_is_its_own_name) {
  BOOST_TEST(job_name_from("slurm-1-2") == "slurm-1-2");
}

BOOST_AUTO_TEST_CASE(long_texts_that_differ_at_the_end_get_names_that_differ) {
  const std::string one = job_name_from(std::string(500, 'x') + "1");
  const std::string other = job_name_from(std::string(500, 'x') + "2");
  BOOST_TEST(one.size() == kJobNameBytesMax);
  BOOST_TEST(one != other);
  BOOST_CHECK_NO_THROW(check_job_name(one));
  BOOST_CHECK_NO_THROW(check_job_name(job_name_from("")));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(launches)

static std::uint64_t launch_of(Table table) {
  table.insert({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TENSORPLAY_JOB", "mine"}});
  return options_of(table).launch;
}

BOOST_AUTO_TEST_CASE(what_tprun_tells_counts_before_what_the_launcher_tells) {
  BOOST_TEST(launch_of({{"TENSORPLAY_LAUNCH", "a"}}) == launch_from("a"));
  BOOST_TEST(launch_of({{"TENSORPLAY_LAUNCH", "a"}}) != launch_of({{"TENSORPLAY_LAUNCH", "b"}}));
  BOOST_TEST(launch_of({{"TENSORPLAY_LAUNCH", "a"}, {"TORCHELASTIC_RUN_ID", "x"}}) ==
             launch_from("a"));
}

BOOST_AUTO_TEST_CASE(two_jobs_of_a_launcher_that_names_them_are_two_launches) {
  BOOST_TEST(launch_of({{"TORCHELASTIC_RUN_ID", "x"}}) != 0U);
  BOOST_TEST(launch_of({{"TORCHELASTIC_RUN_ID", "x"}}) !=
             launch_of({{"TORCHELASTIC_RUN_ID", "y"}}));
  BOOST_TEST(launch_of({{"TORCHELASTIC_RUN_ID", "x"}, {"TORCHELASTIC_RESTART_COUNT", "0"}}) !=
             launch_of({{"TORCHELASTIC_RUN_ID", "x"}, {"TORCHELASTIC_RESTART_COUNT", "1"}}));
}

// They may have been started from several shells.
BOOST_AUTO_TEST_CASE(of_ranks_that_are_started_by_hand_nothing_is_known) {
  BOOST_TEST(launch_of({}) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(launcher_processes)

BOOST_AUTO_TEST_CASE(the_parent_is_the_launcher_if_it_has_no_rank) {
  const std::string name = launcher_process("TENSORPLAY_TEST_NOBODY_SETS_THIS");
  BOOST_TEST(name.starts_with(std::to_string(::getppid()) + "-"));
  BOOST_CHECK_NO_THROW(check_job_name(name));
}

// PATH is everybody's but perhaps that of the first process.
BOOST_AUTO_TEST_CASE(ancestors_that_have_a_rank_themselves_are_passed_over) {
  if (::getppid() == 1) return;
  const std::string parent = launcher_process("TENSORPLAY_TEST_NOBODY_SETS_THIS");
  BOOST_TEST(launcher_process("PATH") != parent);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tensorplay::distributed
