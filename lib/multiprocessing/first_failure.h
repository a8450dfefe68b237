// Which of several failures is the one to tell.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tensorplay::multiprocessing {

struct ChildFailure {
  int rank;
  int exit_code;        // as a shell would give it
  std::string message;  // "rank 2 of 4 (pid 123) raised InvalidArgument: no such rank"
};

// How much a failure counts.
enum class Weight {
  original,     // the child's own
  consequence,  // another one is to blame
  loss,         // none of the job's, as long as another child succeeds
};

// Is told the ends in the order in which they are noticed. That isn't the order in which they
// happened: a rank whose peer has failed may be gone before the peer has unwound its stack. So a
// mere consequence counts only if nothing else is known, and a loss only if there is nothing but
// losses.
class FirstFailure {
 public:
  void note_success() noexcept { has_success_ = true; }
  void note(ChildFailure failure, Weight weight) {
    std::optional<ChildFailure>& place = weight == Weight::original      ? original_
                                         : weight == Weight::consequence ? consequence_
                                                                         : loss_;
    if (!place) place = std::move(failure);
  }
  std::optional<ChildFailure> result() const {
    if (original_) return original_;
    if (consequence_) return consequence_;
    return has_success_ ? std::nullopt : loss_;
  }

 private:
  bool has_success_ = false;
  std::optional<ChildFailure> original_;
  std::optional<ChildFailure> consequence_;
  std::optional<ChildFailure> loss_;
};

}  // namespace tensorplay::multiprocessing
