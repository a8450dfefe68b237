#include "lib/collectives/small.h"

#include "lib/collectives/chunk_plan.h"
#include "lib/sync/arrival.h"

#include <cstring>

namespace tensorplay::collectives {
namespace {

std::byte* payload_of(shm::MemberBlock& member, std::uint64_t number,
                      Algorithm algorithm) noexcept {
  return algorithm == Algorithm::inline_line ? sync::arrival_line(member, number).payload.data()
                                             : sync::post_slot(member, number);
}

}  // namespace

void post_small(shm::MemberBlock& own, std::uint64_t number, const Shape& shape,
                const std::byte* source) noexcept {
  const std::size_t bytes = shape.source_bytes();
  if (bytes == 0 || source == nullptr) return;
  std::memcpy(payload_of(own, number, algorithm_for(shape)), source, bytes);
}

void deliver_small(const Exchange& exchange) {
  if (!exchange.receives() || exchange.shape.block_bytes == 0) return;
  const Algorithm algorithm = algorithm_for(exchange.shape);
  const std::size_t offset =
      static_cast<std::size_t>(exchange.shape.block_read_by(exchange.self())) *
      exchange.shape.block_bytes;
  deliver(exchange, 0, exchange.shape.block_bytes, [&](int member) -> const std::byte* {
    if (member == exchange.self()) return exchange.own_block(exchange.shape.block_read_by(member));
    return payload_of(exchange.memory->member(member), exchange.number, algorithm) + offset;
  });
}

void deliver_alone(const Exchange& exchange) {
  if (!exchange.receives() || exchange.shape.block_bytes == 0) return;
  deliver(exchange, 0, exchange.shape.block_bytes,
          [&](int) { return exchange.own_block(exchange.shape.block_read_by(exchange.self())); });
}

}  // namespace tensorplay::collectives
