// A rank that is stopped at a fault point until the others have done something.
#pragma once

#include <atomic>

namespace tensorplay::distributed {

// Made by the parent before the ranks are forked; of each, one thread uses it.
class StoppedRank {
 public:
  StoppedRank();
  ~StoppedRank();
  StoppedRank(const StoppedRank&) = delete;
  StoppedRank& operator=(const StoppedRank&) = delete;

  // From now on the calling rank stops itself, or gets SIGKILL, where it first passes the point.
  void stop_here_at(const char* point);
  void die_here_at(const char* point);

  // The others wait for that. False if it doesn't happen for half a minute.
  bool await_stop() const;
  // Called by each of `others`: the last one continues the rank.
  void leave(int others);
  // Called by the stopped rank once it has gone on; the others wait for that, as above.
  void go_on();
  bool await_going_on() const;

 private:
  struct Page {
    std::atomic<int> stopped_pid{0};  // about to stop, or to die
    std::atomic<int> left{0};
    std::atomic<bool> goes_on{false};
  };

  void act_at(const char* point, int signal);

  Page* page_;  // shared by all processes
};

}  // namespace tensorplay::distributed
