#include "tests/chaos/chaos_run.h"

#include "tests/conformance/oracle.h"
#include "tests/faults/verdict.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace tensorplay::chaos {
namespace {

constexpr std::uint64_t kFaultyRunsPerJob = 4;
constexpr int kWrongMax = 3;

// What a trial of this process has left in /dev/shm; "" if nothing.
std::string leftover() {
  const std::string own = "trial-" + std::to_string(getpid()) + "-";
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.find(own) != std::string::npos) return name;
  }
  return "";
}

bool only_stops(const faults::Trial& trial) {
  return !trial.faults.empty() && std::ranges::none_of(trial.faults, [](const faults::Fault& f) {
    return is_deadly(f.action);
  });
}

}  // namespace

void ChaosRun::run(std::chrono::duration<double> time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (std::int64_t job = 0; std::chrono::steady_clock::now() < end && wrong_ < kWrongMax; ++job) {
    try_job(job);
  }
}

void ChaosRun::try_job(std::int64_t number) {
  const std::uint64_t seed =
      conformance::mix(seed_ ^ conformance::mix(static_cast<std::uint64_t>(number)));
  const std::unique_ptr<RandomJob> job = random_job(seed);
  ++jobs_;
  const auto begin = std::chrono::steady_clock::now();
  if (!try_trial(number, job->trial, undisturbed_)) return;
  const std::int64_t duration_ns =
      (std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds(1);
  Passes passes;
  for (int rank = 0; rank < job->trial.world_size; ++rank) {
    passes.push_back(undisturbed_.passes(rank).by_point());
  }
  for (std::uint64_t i = 1; i <= kFaultyRunsPerJob; ++i) {
    faults::Trial trial = job->trial;
    trial.faults = random_faults(seed + i, *job, passes, duration_ns);
    if (!try_trial(number, trial, notebook_)) return;
  }
}

// Whether all was well.
bool ChaosRun::try_trial(std::int64_t number, const faults::Trial& trial,
                         faults::Notebook& notebook) {
  faults::Verdict verdict = judge(trial, notebook, faults::run(trial, notebook));
  if (only_stops(trial)) {
    verdict.findings += compare_with_undisturbed(trial, notebook, undisturbed_);
  }
  if (const std::string name = leftover(); !name.empty()) {
    ++leftovers_;
    verdict.findings += "left in /dev/shm: " + name;
  }
  tally_.add(trial, verdict);
  if (verdict.findings.empty()) return true;
  ++wrong_;
  std::printf("%s: %s\n  once more: bazel run //tests/chaos -- --seed %llu --job %lld\n",
              to_string(trial).c_str(), verdict.findings.c_str(),
              static_cast<unsigned long long>(seed_), static_cast<long long>(number));
  std::fflush(stdout);
  return false;
}

std::string ChaosRun::text() {
  return std::to_string(jobs_) + " random jobs; with and without faults " + tally_.text() + "; " +
         std::to_string(wrong_) + " wrong, " + std::to_string(leftovers_) +
         " left something in /dev/shm";
}

}  // namespace tensorplay::chaos
