// Operations of one round: the payload travels with the arrival.
//
//   bytes of a source   where the payload lies          cost per rank
//   <= kInlineBytes     in the arrival line             one line read per peer
//   <= kPostBytes       in the post slot                the source written once, read by all
//
// There is nothing to wait for but the arrivals, and nothing to tell afterwards: a slot is free
// again when its owner has seen kOperationsInFlight further arrivals of everyone (see
// shm/layout.h).
#pragma once

#include "lib/collectives/exchange.h"

namespace tensorplay::collectives {

// Copies this rank's source to where its peers read it: before the arrival is published.
void post_small(shm::MemberBlock& own, std::uint64_t number, const Shape& shape,
                const std::byte* source) noexcept;

// Reads everybody's payload into this rank's destination, once all have arrived.
void deliver_small(const Exchange& exchange);

// The same for an operation of any size in which this rank is alone: its source is all there is.
void deliver_alone(const Exchange& exchange);

}  // namespace tensorplay::collectives
