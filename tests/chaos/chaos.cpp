// A chaos run for people.
//
//     bazel run //tests/chaos -- --seconds 600        from a new seed
//     bazel run //tests/chaos -- --seed 7 --job 123   job 123 of seed 7, once more
//
// Ends with exit code 0 if all was well, else with 1.
#include "tests/chaos/chaos_run.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <random>

int main(int argument_count, char** arguments) {
  double seconds = 60;
  std::uint64_t seed = std::random_device{}();
  std::int64_t job = -1;
  CLI::App app("Runs random jobs to which random things happen; compares them with the oracle.");
  app.add_option("--seconds", seconds, "how long, by default 60");
  app.add_option("--seed", seed, "the same seed, the same jobs; by default a new one");
  app.add_option("--job", job, "only this job of the seed");
  CLI11_PARSE(app, argument_count, arguments);
  try {
    tensorplay::chaos::ChaosRun chaos(seed);
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    job < 0 ? chaos.run(std::chrono::duration<double>(seconds)) : chaos.try_job(job);
    std::printf("%s\n", chaos.text().c_str());
    return chaos.fine() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chaos: %s\n", error.what());
    return 2;
  }
}
