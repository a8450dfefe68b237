// One collective under way on this rank.
#pragma once

#include "lib/collectives/chunk_plan.h"
#include "lib/collectives/exchange.h"
#include "lib/collectives/large_run.h"
#include "lib/distributed/vaults.h"
#include "lib/distributed/work_state.h"

#include <tensorplay/distributed/collective_call.h>

#include <cstdint>
#include <exception>
#include <memory>

namespace tensorplay::distributed {

class GroupEngine;

// How this rank takes part.
enum class Role {
  active,  // contributes
  shadow,  // a joined rank in step: takes part, contributes nothing
};

// queued -> posted -> exchanging -> done. Small operations go from posted to done at once.
enum class Stage {
  queued,      // issued; too many earlier ones are still under way to post it
  posted,      // this rank has arrived; others may be missing
  exchanging,  // all have arrived; data is moving
  done,        // result or error is there
};

// The state that a Work refers to; driven by its GroupEngine.
class Operation final : public WorkState {
 public:
  explicit Operation(std::weak_ptr<GroupEngine> engine_) : engine(std::move(engine_)) {}

  // Makes it a call that hasn't been issued yet, whatever it was before.
  void begin(const CollectiveCall& call_, int world_size, Role role_);

  Contributors wait(std::optional<std::chrono::nanoseconds> timeout) override;
  bool is_completed() override;
  Contributors contributors() const override;
  std::int64_t result() override { return wait({}).count(); }
  // Once it's done: who contributed, or throws what became of it.
  Contributors result_of_done() const;

  std::weak_ptr<GroupEngine> engine;
  CollectiveCall call{};
  Role role = Role::active;
  collectives::Shape shape;
  collectives::Algorithm algorithm = collectives::Algorithm::inline_line;
  reduce::ReduceKernel kernel = nullptr;
  std::uint64_t place = 0;  // of the result, as the ranks compare it, where it lies once
  Vault* vault = nullptr;   // that holds the source, where a peer's death is survived

  bool staged_ahead = false;  // the first round of the source went out with the arrival
  bool supplies = false;      // a shadow that supplies what the root sends
  // The join context at the time of the call.
  std::uint32_t context = 0;
  std::uint32_t iteration = 0;

  Stage stage = Stage::queued;
  std::uint64_t number = 0;
  int next_peer = 0;          // arrivals of all members before this one have been seen
  Contributors active;        // who contributes, of the members seen so far
  Contributors participants;  // these, and those in step
  std::unique_ptr<collectives::LargeRun> run;  // of a large operation that exchanges
  bool refused = false;                        // what it met made the group fail
  std::exception_ptr error;  // of this operation alone; a failed group is told by its record
};

}  // namespace tensorplay::distributed
