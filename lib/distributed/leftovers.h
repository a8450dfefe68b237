// What killed jobs have left in /dev/shm.
#pragma once

#include "lib/shm/segment.h"

namespace tensorplay::distributed {

// Whether nobody who has ever used the segment can still be using it. The maker takes its place
// before it publishes, so a published segment without a living rank is a leftover. So is a copy of
// a segment's file, whoever still uses the original: nobody could ever have used the copy.
bool is_leftover(const shm::Segment& segment);

// Removes the names of this user's leftovers, whatever their jobs were called: those of which all
// ranks were killed before all had come. Segments in use, files of others, and what can't be read
// are left alone.
void remove_leftovers() noexcept;

}  // namespace tensorplay::distributed
