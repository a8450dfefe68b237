// Which CPUs each rank may run on.
//
//   core   rank r runs on the r-th usable core, with all of its hardware threads; neighbours are
//          close to each other. More ranks than cores can't be bound.
//   l3     the ranks are dealt out over the third-level caches in consecutive runs, as even as
//          numbers allow, and move freely among the CPUs of theirs
//   numa   likewise over the NUMA nodes
//   none   ranks run where tprun may run
//
// Usable is what tprun itself may run on: a job started under taskset or in a container stays
// there. A machine that shows no such cache or node counts as one.
//
// Without a choice it's l3, where data between ranks of one cache stays in it, or none if there are
// more ranks than cores: the scheduler then balances better than any fixed place. `core` is never
// the default, since two jobs on one machine would take the same cores, and programs whose ranks
// have several threads would put all on one.
#pragma once

#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>

// hwloc's, so that its header isn't everybody's.
struct hwloc_topology;
struct hwloc_bitmap_s;

namespace tensorplay::tprun {

enum class BindTo { automatic, core, l3, numa, none };

// The ranks can't be bound as was asked. The message is one line.
class BindingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The CPUs of each rank; empty if they aren't bound. Throws BindingError.
std::vector<cpu_set_t> bind_ranks(BindTo to, int ranks);

// The same on a given machine, of which the CPUs in `usable` count. Pure.
std::vector<cpu_set_t> bind_ranks(BindTo to, int ranks, hwloc_topology* machine,
                                  const hwloc_bitmap_s* usable);

}  // namespace tensorplay::tprun
