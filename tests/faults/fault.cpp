#include "tests/faults/fault.h"

#include "lib/base/fault_point.h"
#include "tests/faults/journal.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tensorplay::faults {
namespace {

// Of this process.
std::vector<Fault> pending;
VictimRecord* record = nullptr;
PassCounts* counts = nullptr;
std::map<std::string, int, std::less<>> passes;

void strike(const Fault& fault, const char* point) {
  note(*record, fault, point);
  switch (fault.action) {
    case Action::kill:
      std::raise(SIGKILL);
      break;
    case Action::abort:
      std::signal(SIGABRT, SIG_DFL);
      std::raise(SIGABRT);
      break;
    case Action::exit:
      _exit(3);
    case Action::stop:
      std::raise(SIGSTOP);
      break;
    case Action::raise:
      pending.clear();  // `fault` is gone
      throw InjectedException("injected at " + std::string(point));
  }
}

void pass(const char* point) {
  counts->count(point);
  const std::string_view name(point);
  if (name == "join.joined") ++record->contexts_joined;
  auto place = passes.find(name);
  if (place == passes.end()) place = passes.emplace(name, 0).first;
  ++place->second;
  for (const Fault& fault : pending) {
    if (fault.point == name && fault.pass == place->second) return strike(fault, point);
  }
}

}  // namespace

const char* name(Action action) noexcept {
  switch (action) {
    case Action::kill:
      return "kill";
    case Action::abort:
      return "abort";
    case Action::exit:
      return "exit";
    case Action::raise:
      return "raise";
    case Action::stop:
      return "stop";
  }
  return "unknown";
}

std::string to_string(const Fault& fault) {
  std::string text = std::string(name(fault.action)) + " rank " + std::to_string(fault.victim);
  if (fault.point.empty()) return text + " after " + std::to_string(fault.after_ns / 1000) + " us";
  return text + " at " + fault.point + ", pass " + std::to_string(fault.pass);
}

void note(VictimRecord& of, const Fault& fault, const char* point) noexcept {
  std::strncpy(of.point.data(), point, of.point.size() - 1);
  if (fault.action == Action::stop) {
    of.continue_at_ns = now_ns() + fault.stopped_ns;
  } else {
    of.struck_at_ns = now_ns();
    ++of.deadly;
  }
  ++of.struck[static_cast<std::size_t>(fault.action)];
}

bool may_raise_at(const std::string& point) noexcept {
  const auto begins = [&](const char* with) { return point.starts_with(with); };
  return !begins("failure.") && !begins("end.") && !begins("doorbell.") && !begins("group");
}

void PassCounts::count(const char* point) noexcept {
  for (Line& line : lines_) {
    if (line.passes == 0) std::strncpy(line.point.data(), point, line.point.size() - 1);
    if (std::strcmp(line.point.data(), point) != 0) continue;
    ++line.passes;
    return;
  }
  std::abort();  // more fault points than lines: make the table larger
}

std::map<std::string, int> PassCounts::by_point() const {
  std::map<std::string, int> result;
  for (const Line& line : lines_) {
    if (line.passes > 0) result[line.point.data()] = line.passes;
  }
  return result;
}

void arm(const std::vector<Fault>& faults_of_rank, VictimRecord& of_rank, PassCounts& of_points) {
  pending = faults_of_rank;
  record = &of_rank;
  counts = &of_points;
  record->begun_at_ns = now_ns();
  record->pid = getpid();
  fault_handler = &pass;
}

void retire() noexcept {
  record->retired = 1;
}

}  // namespace tensorplay::faults
