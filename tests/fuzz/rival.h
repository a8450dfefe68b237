// The other rank of a group of two, whose words a fuzzer writes.
#pragma once

#include "lib/shm/segment.h"
#include "tests/fuzz/input_bytes.h"

#include <memory>

namespace tensorplay::fuzz {

// Writes what member 1 of the group of all ranks would write, and what it never would.
class Rival {
 public:
  explicit Rival(std::shared_ptr<shm::Segment> segment) : segment_(std::move(segment)) {}

  // Arrives as member 0 has, or at the operation after its last one, perhaps with some bytes of the
  // line changed.
  void answer(InputBytes& input) const;
  // Is as far in an operation as the input says.
  void progress(InputBytes& input) const;
  // Has the board that member 0 has, perhaps with some bytes changed; or joins.
  void show_board(InputBytes& input) const;
  void join(InputBytes& input) const;
  void be_absent(InputBytes& input) const;
  // The group has failed, as the record of some member says that may be no member at all.
  void fail(InputBytes& input) const;
  // Eight bytes anywhere in what this rank or any other may write.
  void scribble(InputBytes& input) const;

 private:
  shm::MemberBlock& own() const { return segment_->member_block(0, 1); }
  shm::MemberBlock& other() const { return segment_->member_block(0, 0); }
  std::span<std::byte> region(std::size_t index) const;
  void bound_counts() const;

  std::shared_ptr<shm::Segment> segment_;
};

}  // namespace tensorplay::fuzz
