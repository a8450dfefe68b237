// The Joinables of the tests.
#pragma once

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/distributed/process_group.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tensorplay::join_tests {

using distributed::Contributors;
using distributed::ProcessGroup;
using distributed::ReduceOp;
using distributed::Work;
using distributed::algorithms::Join;
using distributed::algorithms::Joinable;
using distributed::algorithms::JoinableReference;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;
using distributed::algorithms::JoinOptions;
using distributed::algorithms::JoinReport;
using distributed::algorithms::with_join;

// A hook made of functions; an empty one is not overridden.
class PostHook : public JoinHook {
 public:
  explicit PostHook(std::function<void(bool)> post) : post_(std::move(post)) {}
  void post_hook(bool is_last_joiner) override {
    if (post_) post_(is_last_joiner);
  }

 private:
  std::function<void(bool)> post_;
};

class MainHook : public PostHook {
 public:
  MainHook(std::function<void()> main, std::function<void(bool)> post)
      : PostHook(std::move(post)), main_(std::move(main)) {}
  void main_hook() override { main_(); }

 private:
  std::function<void()> main_;
};

// Counts, by one all-reduce per use, the ranks that still have inputs. Nothing to shadow: joined
// ranks sleep.
class Counter : public Joinable {
 public:
  explicit Counter(ProcessGroup group) : group_(std::move(group)) {}

  Contributors count() {
    work = Join::notify_join_context(*this);
    std::int64_t one = 1;
    const Contributors who = group_.all_reduce(std::span(&one, 1));
    total += one;
    last = one;
    return who;
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    ++hooks_made;
    return std::make_unique<PostHook>([this](bool is_last_joiner) {
      ++post_hooks_run;
      was_last_joiner = is_last_joiner;
    });
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Counter"; }

  std::int64_t total = 0;
  std::int64_t last = 0;
  std::optional<Work> work;  // of the last notification
  int hooks_made = 0;
  int post_hooks_run = 0;
  bool was_last_joiner = false;

 private:
  ProcessGroup group_;
};

// The Joinable of the reference's own tests: all-reduces of ones, shadowed by all-reduces of zeros.
// `num_allreduces` of them per use; post hooks may synchronise a tensor.
class AllReducer : public Joinable {
 public:
  explicit AllReducer(ProcessGroup group) : group_(std::move(group)) {}

  // One use: the sum of its all-reduces of ones.
  std::int64_t use(int num_allreduces = 1) {
    Join::notify_join_context(*this);
    std::int64_t sum = 0;
    for (int i = 0; i < num_allreduces; ++i) {
      std::int64_t one = 1;
      group_.all_reduce(std::span(&one, 1));
      sum += one;
    }
    return sum;
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs& kwargs) override {
    const std::int64_t num_allreduces = kwargs.get("num_allreduces", 1);
    const bool run_post_hook = kwargs.get("run_post_hooks", false);
    return std::make_unique<MainHook>(
        [this, num_allreduces] {
          for (std::int64_t i = 0; i < num_allreduces; ++i) {
            std::int64_t zero = 0;
            group_.all_reduce(std::span(&zero, 1));
          }
        },
        [this, run_post_hook](bool is_last_joiner) {
          if (run_post_hook) synchronise(is_last_joiner);
        });
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "AllReducer"; }

  std::int64_t post_hook_tensor = 0;

 private:
  // The last joiner of the highest rank sets the tensor and broadcasts it.
  void synchronise(bool is_last_joiner) {
    std::int32_t common_rank = is_last_joiner ? group_.rank() : -1;
    group_.all_reduce(std::span(&common_rank, 1), ReduceOp::max);
    if (group_.rank() == common_rank) ++post_hook_tensor;
    group_.broadcast(std::span(&post_hook_tensor, 1), common_rank);
  }

  ProcessGroup group_;
};

// Holds, on every rank, the result of every all-reduce that it made or shadowed. Each call's values
// tell its rank and its number.
class Mirror : public Joinable {
 public:
  Mirror(ProcessGroup group, std::size_t count) : group_(std::move(group)), count_(count) {}

  static double value(int rank, std::size_t call) {
    return static_cast<double>(rank + 1) * 1000.0 + static_cast<double>(call);
  }

  // One use; with `skip` it makes no collective.
  void use(bool skip = false) {
    work = Join::notify_join_context(*this);
    if (skip) return;
    std::vector<double> values(count_, value(group_.rank(), history.size()));
    contributors.push_back(group_.all_reduce(std::span(values)));
    history.push_back(values.back());
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<MainHook>([this] { shadow(); },
                                      [this](bool last) { was_last_joiner = last; });
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Mirror"; }

  std::vector<double> history;
  std::vector<Contributors> contributors;
  int shadowed = 0;   // main hooks run
  int not_made = 0;   // shadow calls that the active ranks skipped
  bool torn = false;  // a skipped call touched its buffer, or a made one didn't fill it
  bool was_last_joiner = false;
  std::optional<Work> work;

 private:
  void shadow() {
    ++shadowed;
    constexpr double kUntouched = -5.0;
    std::vector<double> values(count_, kUntouched);
    const Contributors who = group_.all_reduce(std::span(values));
    for (double value : values) torn = torn || value != values.back();
    if (who.empty()) {
      ++not_made;
      torn = torn || values.back() != kUntouched;
      return;
    }
    contributors.push_back(who);
    history.push_back(values.back());
  }

  ProcessGroup group_;
  std::size_t count_;
};

// A Joinable whose hooks are functions of its group; an empty main function isn't an override.
class Scripted : public Joinable {
 public:
  using Main = std::function<void(ProcessGroup&)>;
  using Post = std::function<void(ProcessGroup&, bool)>;

  explicit Scripted(ProcessGroup group, Main main = {}, Post post = {})
      : group_(std::move(group)), main_(std::move(main)), post_(std::move(post)) {}

  std::optional<Work> notify() { return Join::notify_join_context(*this); }
  ProcessGroup& group() { return group_; }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    std::function<void(bool)> post;
    if (post_) post = [this](bool is_last_joiner) { post_(group_, is_last_joiner); };
    if (!main_) return std::make_unique<PostHook>(std::move(post));
    return std::make_unique<MainHook>([this] { main_(group_); }, std::move(post));
  }
  ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Scripted"; }

 private:
  ProcessGroup group_;
  Main main_;
  Post post_;
};

// What the history of a Mirror is when rank r calls it calls[r] times.
inline std::vector<double> history_of(const std::vector<int>& calls) {
  std::vector<double> history;
  for (bool any = true; any;) {
    any = false;
    double sum = 0;
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      if (history.size() >= static_cast<std::size_t>(calls[rank])) continue;
      any = true;
      sum += Mirror::value(static_cast<int>(rank), history.size());
    }
    if (any) history.push_back(sum);
  }
  return history;
}

// The ranks r with calls[r] > call.
inline Contributors active_at(const std::vector<int>& calls, int call) {
  Contributors ranks;
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    if (calls[rank] > call) ranks.insert(static_cast<int>(rank));
  }
  return ranks;
}

// The entry of a rank in a table by rank.
template <typename T>
const T& own(const std::vector<T>& by_rank, const ProcessGroup& group) {
  return by_rank[static_cast<std::size_t>(group.rank())];
}

}  // namespace tensorplay::join_tests
