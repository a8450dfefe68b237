#include "tools/tpbench/forked_ranks.h"

#include "lib/multiprocessing/run_children.h"

#include <tensorplay/error.h>
#include <tensorplay/multiprocessing/spawn.h>

namespace tensorplay::tpbench {
namespace {

Rig make_rig(int ranks) {
  Rig rig = Rig::make(ranks);
  rig.memory().order.oversubscribed = ranks > count_of(rig.memory().cpus);
  return rig;
}

void bind_if_enough(const RigRank& rank) {
  if (!rank.memory().order.oversubscribed) bind_to(rank.memory().cpus, rank.rank());
}

}  // namespace

std::vector<double> measure_ranks(int ranks, const RankBody& body) {
  Rig rig = make_rig(ranks);
  multiprocessing::spawn(ranks, [&](distributed::ProcessGroup& group) {
    RigRank rank(rig, group.rank());
    bind_if_enough(rank);
    body(group, rank);
  });
  return slowest_samples(rig.memory());
}

std::vector<double> measure_children(int ranks, const std::function<void(RigRank& rank)>& body) {
  Rig rig = make_rig(ranks);
  const auto failure = multiprocessing::run_children(ranks, [&](int number) {
    RigRank rank(rig, number);
    bind_if_enough(rank);
    body(rank);
  });
  if (failure) throw Error(failure->message);
  return slowest_samples(rig.memory());
}

}  // namespace tensorplay::tpbench
