// What a rank is told when its group has failed.
#pragma once

#include "tests/worlds/worlds.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// So many all_reduces of so many elements.
inline void add_up(ProcessGroup& group, std::size_t count, int times) {
  std::vector<float> values(count, 1.0f);
  for (int i = 0; i < times; ++i) group.all_reduce(std::span(values));
}

inline std::string cause_of(const PeerFailure& failure) {
  switch (failure.cause()) {
    case PeerFailure::Cause::raised:
      return "raised";
    case PeerFailure::Cause::exited:
      return "exited";
    case PeerFailure::Cause::killed:
      return "killed";
  }
  return "unknown";
}

// What a call throws: "rank 1, killed: text" for a PeerFailure.
inline std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const PeerFailure& failure) {
    return "rank " + std::to_string(failure.rank()) + ", " + cause_of(failure) + ": " +
           failure.what();
  } catch (...) {
    return worlds::describe(std::current_exception());
  }
  return "nothing was thrown";
}

// What `call` throws, if every further call on the group throws the same; else what they throw.
inline std::string told(ProcessGroup& group, const std::function<void()>& call) {
  const std::string first = thrown_by(call);
  std::vector<float> values(5'000);
  for (const std::string& next : {thrown_by([&] { group.barrier(); }),
                                  thrown_by([&] { group.all_reduce(std::span(values)); }),
                                  thrown_by([&] { group.split(0, 0); }), thrown_by(call)}) {
    if (next != first) return first + " AND THEN " + next;
  }
  return first;
}

}  // namespace tensorplay::distributed
