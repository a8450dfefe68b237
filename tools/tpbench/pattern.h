// The values that are sent, and what has to come out of them: a serial computation.
#pragma once

#include "tools/tpbench/point.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tensorplay::tpbench {

// What a source holds in one turn. Values are small whole numbers, so that every result is exact in
// every type. Each turn's values differ from those of the turn before.
struct Turn {
  std::uint64_t number = 0;
  // Whether elements of one source differ from each other, so that a misplaced one shows; if not,
  // filling a source costs no more than a memset.
  bool is_varied = false;
};

// Fills the source of `rank`.
void fill(const Point& point, int rank, Turn turn, std::span<std::byte> source);

// Compares the destination of `rank` with what a serial computation gives: all of it, or about
// `probes` elements at even distances. "" if it's right, else what is wrong where.
std::string check(const Point& point, int rank, Turn turn, std::span<const std::byte> destination,
                  std::size_t probes = SIZE_MAX);

}  // namespace tensorplay::tpbench
