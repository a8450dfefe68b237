#include "lib/collectives/large_run.h"

#include "lib/collectives/copy_stores.h"
#include "lib/collectives/direct_run.h"
#include "lib/collectives/shared_run.h"
#include "lib/collectives/staged_run.h"
#include "lib/collectives/vaulted_run.h"

namespace tensorplay::collectives {

std::unique_ptr<LargeRun> make_large_run(Exchange exchange, StagingLease& lease) {
  exchange.streams = copies_stream(exchange);
  if (exchange.lost != nullptr) return std::make_unique<VaultedRun>(exchange);
  if (exchange.shape.has_shared_result()) return std::make_unique<SharedRun>(exchange);
  if (DirectRun::possible(exchange)) return std::make_unique<DirectRun>(exchange);
  return std::make_unique<StagedRun>(exchange, lease);
}

}  // namespace tensorplay::collectives
