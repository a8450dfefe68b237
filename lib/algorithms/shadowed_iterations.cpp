#include "lib/algorithms/shadowed_iterations.h"

#include "lib/base/fault_point.h"

namespace tensorplay::distributed::algorithms {
namespace {

// The group's calls go to the follower as long as this lives, also when a hook throws.
class Redirection {
 public:
  Redirection(GroupEngine& engine, ShadowCalls& calls) : engine_(engine) {
    engine_.redirect(&calls);
  }
  ~Redirection() { engine_.redirect(nullptr); }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  GroupEngine& engine_;
};

}  // namespace

void ShadowedIterations::run() {
  while (follower_.await_iteration()) {
    const Redirection redirection(engine_, follower_);
    has_run_.assign(hooks_.size(), false);
    for (std::size_t i = 0; i < hooks_.size(); ++i) run(static_cast<std::uint16_t>(i + 1));
  }
}

bool ShadowedIterations::run(std::uint16_t tag) {
  const std::size_t place = tag - std::size_t{1};  // of no hook, for a call without a mark
  if (place >= hooks_.size() || has_run_[place]) return false;
  has_run_[place] = true;
  const std::uint16_t caller = follower_.set_caller(tag);
  fault_point("join.before_main_hook");
  hooks_[place]->main_hook();
  fault_point("join.main_hook_run");
  follower_.set_caller(caller);
  return true;
}

}  // namespace tensorplay::distributed::algorithms
