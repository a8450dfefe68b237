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

// Is told the failures in the order in which they are noticed. That isn't the order in which they
// happened: a rank whose peer has failed may be gone before the peer has unwound its stack. So a
// mere consequence counts only if nothing else is known.
class FirstFailure {
 public:
  void note(ChildFailure failure, bool is_consequence) {
    std::optional<ChildFailure>& place = is_consequence ? consequence_ : original_;
    if (!place) place = std::move(failure);
  }
  std::optional<ChildFailure> result() const { return original_ ? original_ : consequence_; }

 private:
  std::optional<ChildFailure> original_;
  std::optional<ChildFailure> consequence_;
};

}  // namespace tensorplay::multiprocessing
