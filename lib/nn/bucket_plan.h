// How gradients are grouped for their reduction: pure arithmetic.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tensorplay::nn {

// The place of one parameter in its bucket, in elements.
struct BucketSlot {
  std::size_t parameter = 0;
  std::size_t offset = 0;
  std::size_t count = 0;
};

// Parameters whose gradients travel together.
struct Bucket {
  std::vector<BucketSlot> slots;  // dense, in the order in which a backward pass fills them
  std::size_t count = 0;          // elements of all slots
};

struct BucketPlan {
  std::vector<Bucket> buckets;
  std::vector<std::size_t> bucket_of;  // for each parameter, its bucket
};

// Cuts the parameters, in reverse order, into buckets of at most `bucket_bytes`: a backward pass
// completes the last parameter's gradient first, so the first bucket is full soonest. A parameter
// is never divided; one that is larger than `bucket_bytes` gets a bucket of its own. Buckets are as
// few as that allows: no two neighbours would fit into one. Empty parameters have a slot like any
// other.
BucketPlan plan_buckets(std::span<const std::size_t> parameter_counts, std::size_t bucket_bytes);

}  // namespace tensorplay::nn
