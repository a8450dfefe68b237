// The least a Joinable can do.
#pragma once

#include "tests/distributed/told.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <functional>
#include <memory>
#include <utility>

namespace tensorplay::distributed {

// One all_reduce per use; its post hook is a function of the group.
class Counter : public algorithms::Joinable {
 public:
  using Post = std::function<void(ProcessGroup&)>;
  explicit Counter(ProcessGroup group, Post post = {})
      : group_(std::move(group)), post_(std::move(post)) {}

  void count() {
    algorithms::Join::notify_join_context(*this);
    add_up(group_, 1, 1);
  }

  std::unique_ptr<algorithms::JoinHook> join_hook(const algorithms::JoinKwargs&) override {
    return std::make_unique<Hook>(*this);
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Counter"; }

 private:
  class Hook : public algorithms::JoinHook {
   public:
    explicit Hook(Counter& counter) : counter_(counter) {}
    void post_hook(bool) override {
      if (counter_.post_) counter_.post_(counter_.group_);
    }

   private:
    Counter& counter_;
  };

  ProcessGroup group_;
  Post post_;
};

}  // namespace tensorplay::distributed
