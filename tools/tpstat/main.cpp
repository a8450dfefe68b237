// tpstat: looks into the jobs of this user, without their help. See lib/inspect.
#include "lib/inspect/job_finder.h"
#include "lib/inspect/job_view.h"
#include "lib/inspect/why.h"
#include "lib/shm/segment.h"
#include "tools/tpstat/table.h"

#include <tensorplay/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace tensorplay::tpstat {
namespace {

constexpr int kFine = 0;
constexpr int kNoSuchJob = 1;
constexpr int kBadInput = 2;
constexpr int kStuck = 3;

constexpr const char* kFooter =
    "JOB is a name that 'tpstat' lists, or the number of any of the job's processes.\n"
    "STATE: computing (in the program's own code; waits of less than a millisecond count as "
    "that),\n"
    "waiting (in a collective, or for others' iterations), starting, joined, in step (joined, and\n"
    "follows the others), stopped (by a signal), ended. FOR: how long, in seconds. ITERATION: of "
    "the\n"
    "Join context that the rank is in. WAITS FOR: the ranks that haven't come to what it waits "
    "in.\n"
    "Exit codes: 0; 1: no such job; 2: wrong arguments; 3: the job is stuck: a rank that others "
    "wait\n"
    "for is stopped or has ended, or a group has failed.";

int say(const std::string& text, int exit_code) {
  std::fprintf(stderr, "tpstat: %s\n", text.c_str());
  return exit_code;
}

inspect::JobView look(const inspect::FoundJob& job) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto copy = shm::Segment::copy_of(job.path);
  return inspect::view_of(copy, now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec);
}

bool is_meant(const inspect::FoundJob& job, const std::string& wanted) {
  return job.name == wanted ||
         std::ranges::any_of(job.pids, [&](int pid) { return std::to_string(pid) == wanted; });
}

int list(const std::vector<inspect::FoundJob>& jobs) {
  if (jobs.empty()) std::puts("no job of this user is running, or has left anything");
  for (const inspect::FoundJob& job : jobs) {
    try {
      std::puts(line_of(job.name, look(job)).c_str());
    } catch (const Error& error) {
      std::printf("%s: %s\n", job.name.c_str(), error.what());
    }
  }
  return kFine;
}

int show(const inspect::FoundJob& job, bool only_why) {
  const inspect::JobView view = look(job);
  if (!only_why) std::fputs(table_of(view).c_str(), stdout);
  std::puts(inspect::why(view).c_str());
  return inspect::is_stuck(view) ? kStuck : kFine;
}

// The job that is meant, or the only one there is.
int show_one(const std::vector<inspect::FoundJob>& jobs, const std::string& wanted, bool only_why) {
  std::vector<inspect::FoundJob> meant;
  for (const inspect::FoundJob& job : jobs) {
    if (wanted.empty() || is_meant(job, wanted)) meant.push_back(job);
  }
  if (meant.size() > 1) {
    list(meant);
    return say("there are several jobs; say which one: tpstat why JOB", kBadInput);
  }
  if (meant.empty() && wanted.empty()) return say("no job of this user is running", kNoSuchJob);
  if (meant.empty()) return say("there is no job '" + wanted + "'; see tpstat", kNoSuchJob);
  return show(meant.front(), only_why);
}

int run(int argc, const char* const* argv) {
  CLI::App app("Looks into the jobs of this user: running, hung or dead. Disturbs nobody.");
  app.footer(kFooter);
  std::string job;
  std::string job_of_why;
  app.add_option("job", job, "show this one, rank by rank, and say who waits for whom");
  CLI::App* const why = app.add_subcommand("why", "only say who waits for whom, and since when");
  why->add_option("job", job_of_why, "needn't be named if there is one only");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kBadInput;
  }
  const std::vector<inspect::FoundJob> jobs = inspect::find_jobs();
  if (why->parsed()) return show_one(jobs, job_of_why, true);
  return job.empty() ? list(jobs) : show_one(jobs, job, false);
}

}  // namespace
}  // namespace tensorplay::tpstat

int main(int argc, char* argv[]) {
  try {
    return tensorplay::tpstat::run(argc, argv);
  } catch (const std::exception& error) {
    return tensorplay::tpstat::say(error.what(), tensorplay::tpstat::kNoSuchJob);
  }
}
