// The jobs of this user on this machine, running or left behind.
#pragma once

#include <string>
#include <vector>

namespace tensorplay::inspect {

struct FoundJob {
  // "train-7" for a segment whose file still has its name, or had; else the number of the lowest of
  // its processes: "4711".
  std::string name;
  std::string path;       // where shm::Segment::copy_of() finds it
  std::vector<int> pids;  // who has it open, ascending: ranks, and those that started them
};

// Looks in /dev/shm and at the files that this user's processes have open: a segment is found
// without its name, too, as long as one of them lives. Needs nobody's help. Processes that may not
// be looked at are left out. By name.
std::vector<FoundJob> find_jobs();

}  // namespace tensorplay::inspect
