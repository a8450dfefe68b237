#include "tools/tprun/binding.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <memory>

namespace tensorplay::tprun {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Null if the machine can't be looked at.
Topology this_machine() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology machine(topology);
  // Devices take their time to be found.
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  return hwloc_topology_load(topology) == 0 ? std::move(machine) : nullptr;
}

// The usable CPUs of each object of a type that has any. One for all if there is no such object.
std::vector<Bitmap> places(hwloc_topology_t machine, hwloc_const_bitmap_t usable,
                           hwloc_obj_type_t type) {
  std::vector<Bitmap> found;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(machine, type, object)) != nullptr;) {
    Bitmap cpus(hwloc_bitmap_alloc());
    hwloc_bitmap_and(cpus.get(), object->cpuset, usable);
    if (hwloc_bitmap_iszero(cpus.get()) == 0) found.push_back(std::move(cpus));
  }
  if (found.empty()) found.emplace_back(hwloc_bitmap_dup(usable));
  return found;
}

std::vector<Bitmap> places(hwloc_topology_t machine, hwloc_const_bitmap_t usable, BindTo to) {
  switch (to) {
    case BindTo::core:
      return places(machine, usable, HWLOC_OBJ_CORE);
    case BindTo::numa:
      return places(machine, usable, HWLOC_OBJ_NUMANODE);
    default:
      return places(machine, usable, HWLOC_OBJ_L3CACHE);
  }
}

cpu_set_t as_cpu_set(hwloc_topology_t machine, hwloc_const_bitmap_t cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  hwloc_cpuset_to_glibc_sched_affinity(machine, cpus, &set, sizeof(set));
  return set;
}

[[noreturn]] void throw_too_few(std::size_t cores, int ranks) {
  throw BindingError("--bind-to core: there are " + std::to_string(ranks) + " ranks, but " +
                     std::to_string(cores) +
                     " usable cores; start fewer ranks, or bind to l3, numa or none");
}

}  // namespace

std::vector<cpu_set_t> bind_ranks(BindTo to, int ranks, hwloc_topology* machine,
                                  const hwloc_bitmap_s* usable) {
  if (to == BindTo::none) return {};
  const auto rank_count = static_cast<std::size_t>(ranks);
  const std::size_t cores = places(machine, usable, BindTo::core).size();
  if (to == BindTo::automatic && rank_count > cores) return {};
  if (to == BindTo::core && rank_count > cores) throw_too_few(cores, ranks);
  const std::vector<Bitmap> all = places(machine, usable, to);
  std::vector<cpu_set_t> sets;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    const std::size_t place = to == BindTo::core ? rank : rank * all.size() / rank_count;
    sets.push_back(as_cpu_set(machine, all[place].get()));
  }
  return sets;
}

std::vector<cpu_set_t> bind_ranks(BindTo to, int ranks) {
  if (to == BindTo::none) return {};
  const Topology machine = this_machine();
  const Bitmap usable(hwloc_bitmap_alloc());
  if (machine == nullptr ||
      hwloc_get_cpubind(machine.get(), usable.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    if (to == BindTo::automatic) return {};
    throw BindingError("--bind-to: this machine's CPUs can't be told; use --bind-to none");
  }
  return bind_ranks(to, ranks, machine.get(), usable.get());
}

}  // namespace tensorplay::tprun
