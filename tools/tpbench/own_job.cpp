#include "tools/tpbench/own_job.h"

#include "tools/tpbench/own_subject.h"

#include <tensorplay/multiprocessing/spawn.h>

namespace tensorplay::tpbench {

std::unique_ptr<Job> start_own_job(int ranks, std::size_t arena_bytes) {
  const auto launch = [=](Rig& rig) {
    multiprocessing::spawn(
        ranks,
        [&rig](distributed::ProcessGroup& group) {
          RigRank(rig, group.rank()).serve([&](RigRank& rank, const Order& order) {
            OwnSubject subject(group, order.point);
            measure(rank, order, subject.get());
            subject.give_back_shared();
          });
        },
        {.arena_bytes = arena_bytes});
  };
  return std::make_unique<Job>("tensorplay", ranks, launch);
}

}  // namespace tensorplay::tpbench
