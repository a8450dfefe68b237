// The ways in which a rank can end.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <vector>

namespace tensorplay::distributed {

// Where a rank is when it ends, if the others are in a Join context.
enum class Place {
  inside,   // has entered the context, too
  outside,  // hasn't
  either,   // inside only if the others wait for something of the context
};

struct Ending {
  const char* name;
  std::function<void()> act;  // ends the process, throws, or returns to end as main() would
  Place place;
  const char* cause;  // as told() tells it
  const char* words;  // in the text

  friend std::ostream& operator<<(std::ostream& out, const Ending& ending);
};

const std::vector<Ending>& all_endings();

// Ends this process as it would end without a test around it.
void end_by(const Ending& ending);

// Kills this process so much later, whatever it does then.
void be_killed_after(std::chrono::microseconds delay);

}  // namespace tensorplay::distributed
