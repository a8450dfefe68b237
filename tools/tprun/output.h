// Lines on their way to a file that somebody reads at his own pace.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tensorplay::tprun {

// A queue before a descriptor that it doesn't own. Writes only what fits at once, so that a reader
// who stops reading never blocks tprun; the descriptor's own flags, which other processes may
// share, stay as they are. One thread.
//
// Whole lines are written by one write() as long as they have at most PIPE_BUF bytes, so they stay
// whole even if others write to the same pipe.
class Output {
 public:
  explicit Output(int descriptor) noexcept : descriptor_(descriptor) {}

  // Takes any number of bytes. What is appended before the next write_some() should end with a
  // newline.
  void append(std::string_view text);
  // Writes a part of the queue, when poll() says that the descriptor can be written.
  void write_some();

  int descriptor() const noexcept { return descriptor_; }
  bool is_empty() const noexcept { return written_ == queue_.size(); }
  // Time to read no more from those who fill it.
  bool is_full() const noexcept { return queue_.size() - written_ >= kQueueBytes; }
  // Nobody reads any more. What is appended is thrown away.
  bool is_broken() const noexcept { return is_broken_; }
  // The errno value with which writing failed, so that output is missing; 0 if it didn't, or if the
  // reader left of its own will.
  int lost_by() const noexcept { return lost_by_; }
  void give_up() noexcept;

 private:
  static constexpr std::size_t kQueueBytes = std::size_t{256} << 10;

  std::string_view next_piece() const noexcept;

  int descriptor_;
  std::string queue_;
  std::size_t written_ = 0;  // bytes of the queue
  bool is_broken_ = false;
  int lost_by_ = 0;
};

}  // namespace tensorplay::tprun
