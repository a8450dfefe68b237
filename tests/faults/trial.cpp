#include "tests/faults/trial.h"

#include "tests/faults/warden.h"

#include <tensorplay/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

namespace tensorplay::faults {
namespace {

using distributed::ProcessGroup;
using worlds::Findings;

constexpr std::chrono::seconds kTimeout{20};

// A group that has failed says the same ever after.
void expect_still_failed(ProcessGroup& group, const PeerFailure& failure, Findings& found) {
  const std::string again =
      found.throws<PeerFailure>([&] { group.barrier(); }, "a call on the failed group");
  found.equal(again, std::string(failure.what()), "the second text");
}

void play(const Trial& trial, Player& player, Journal& journal, Findings& found) {
  try {
    trial.scenario->play(player);
    play_finale(player);
    journal.end();
  } catch (const PeerFailure& failure) {
    journal.add_failure(failure);
    if (journal.failure()->group == 0) expect_still_failed(player.group(), failure, found);
  }
}

std::vector<Fault> faults_of(const Trial& trial, int rank) {
  std::vector<Fault> faults;
  for (const Fault& fault : trial.faults) {
    if (fault.victim == rank) faults.push_back(fault);
  }
  return faults;
}

ProcessGroup attach_by_name(const Trial& trial, int rank, const std::string& job_name) {
  return distributed::init_process_group({.rank = rank,
                                          .world_size = trial.world_size,
                                          .job_name = job_name,
                                          .timeout = kTimeout,
                                          .on_peer_failure = trial.policy});
}

}  // namespace

std::string to_string(const Trial& trial) {
  std::string text = trial.scenario->name + ", " + std::to_string(trial.world_size) + " ranks, " +
                     name(trial.policy);
  for (const Fault& fault : trial.faults) text += ", " + to_string(fault);
  return text;
}

Notebook::Notebook() {
  void* pages = mmap(nullptr, sizeof(Pages), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory for a notebook");
  }
  pages_ = static_cast<Pages*>(pages);  // zero is the initial state of all of it
}

Notebook::~Notebook() {
  munmap(pages_, sizeof(Pages));
}

void Notebook::clear() noexcept {
  madvise(pages_, sizeof(Pages), MADV_REMOVE);
}

worlds::WorldResult run(const Trial& trial, Notebook& notebook) {
  notebook.clear();
  static int jobs = 0;
  const std::string job_name = "trial-" + std::to_string(getpid()) + "-" + std::to_string(++jobs);
  const Warden warden(trial.faults, notebook);
  const auto body = [&](ProcessGroup& group) {
    const int rank = group.rank();
    Findings found;
    const ProcessGroup own = trial.named ? attach_by_name(trial, rank, job_name) : group;
    Player player(own, notebook.journal(rank), found, trial.policy);
    arm(faults_of(trial, rank), notebook.victim(rank), notebook.passes(rank));
    play(trial, player, notebook.journal(rank), found);
    retire();
    return found.text();
  };
  return run_world(
      worlds::World::forked_processes, trial.world_size, body,
      {.timeout = kTimeout, .grace = std::chrono::seconds(20), .on_peer_failure = trial.policy});
}

}  // namespace tensorplay::faults
