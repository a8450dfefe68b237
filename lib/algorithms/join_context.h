// What stands behind a Join: one context on one rank, from entering to its end.
//
//   state        entered by                 what may come next
//   -----------  ------------------------- --------------------------------------------------------
//   active       construction               notify(); finish(); abandon()
//   joined       finish()                   main hooks run; the end, or abandon()
//   left         the end of the context     post hooks run, outside of the context; abandon()
//   over         the end of finish();       nothing; finish() gives the report again
//                abandon(); a throw
#pragma once

#include "lib/algorithms/join_board.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tensorplay::distributed::algorithms {

class JoinContext {
 public:
  JoinContext(JoinableList joinables, JoinOptions options);
  ~JoinContext();
  JoinContext(const JoinContext&) = delete;
  JoinContext& operator=(const JoinContext&) = delete;

  bool is_over() const noexcept { return over_; }
  JoinReport finish();
  void abandon(const std::string& what) noexcept;
  std::optional<Work> notify(Joinable& joinable);

 private:
  void check_joinables() const;
  void build_hooks();
  std::string config() const;
  void claim_joinables();
  void release_joinables() noexcept;
  void leave() noexcept;

  bool take_turn(int index);
  bool keeps_in_step() const;
  [[noreturn]] void terminate(const std::string& message);
  void expect_no_early_termination();
  void expect_inputs_everywhere();
  void shadow_iterations();

  std::vector<JoinableReference> joinables_;
  JoinOptions options_;
  ProcessGroup group_;
  std::vector<std::unique_ptr<JoinHook>> hooks_;
  std::optional<JoinBoard> board_;
  JoinReport report_;
  bool left_ = false;
  bool over_ = false;
  bool abandoned_ = false;  // over by an exception other than EarlyTermination

  // Which Joinable's notifications begin iterations, and which others have notified since the last.
  int pacemaker_ = -1;
  std::vector<bool> notified_;
  bool others_notified_ = false;
  // What each Joinable's calls are marked with where its handle is shared with another one, else 0.
  std::vector<std::uint16_t> shared_tags_;
};

}  // namespace tensorplay::distributed::algorithms
