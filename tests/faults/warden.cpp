#include "tests/faults/warden.h"

#include "tests/faults/journal.h"
#include "tests/faults/trial.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace tensorplay::faults {
namespace {

bool from_outside(const Fault& fault) {
  return fault.point.empty();
}

bool is_needed(const std::vector<Fault>& faults) {
  return std::ranges::any_of(faults, [](const Fault& fault) {
    return from_outside(fault) || fault.action == Action::stop;
  });
}

void strike(const Fault& fault, VictimRecord& record) {
  note(record, fault, "");
  kill(record.pid, fault.action == Action::stop ? SIGSTOP : SIGKILL);
}

void wake_if_due(VictimRecord& record) {
  const std::int64_t due = record.continue_at_ns;
  if (due == 0 || now_ns() < due) return;
  kill(record.pid, SIGCONT);
  // Not before: a rank that stops itself writes the time first and stops a little later, so it's
  // woken again and again until it has gone on.
  if (now_ns() > due + 1'000'000'000) record.continue_at_ns = 0;
}

[[noreturn]] void watch(std::vector<Fault> faults, Notebook& notebook) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::erase_if(faults, [](const Fault& fault) { return !from_outside(fault); });
  for (;;) {
    std::erase_if(faults, [&](const Fault& fault) {
      VictimRecord& record = notebook.victim(fault.victim);
      if (record.retired != 0) return true;
      if (record.pid == 0 || now_ns() < record.begun_at_ns + fault.after_ns) return false;
      strike(fault, record);
      return true;
    });
    for (int rank = 0; rank < Notebook::kRanksMax; ++rank) wake_if_due(notebook.victim(rank));
    usleep(300);
  }
}

}  // namespace

Warden::Warden(const std::vector<Fault>& faults, Notebook& notebook) {
  if (!is_needed(faults)) return;
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) watch(faults, notebook);
}

Warden::~Warden() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace tensorplay::faults
