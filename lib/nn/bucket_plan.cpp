#include "lib/nn/bucket_plan.h"

namespace tensorplay::nn {

BucketPlan plan_buckets(std::span<const std::size_t> parameter_counts, std::size_t bucket_bytes) {
  const std::size_t capacity = bucket_bytes / sizeof(float);
  BucketPlan plan;
  plan.bucket_of.resize(parameter_counts.size());
  for (std::size_t parameter = parameter_counts.size(); parameter-- > 0;) {
    const std::size_t count = parameter_counts[parameter];
    // Subtracted rather than added: the last bucket may be an oversized one, no sum may overflow.
    const bool fits = !plan.buckets.empty() && plan.buckets.back().count <= capacity &&
                      count <= capacity - plan.buckets.back().count;
    if (!fits) plan.buckets.emplace_back();
    Bucket& bucket = plan.buckets.back();
    bucket.slots.push_back({parameter, bucket.count, count});
    bucket.count += count;
    plan.bucket_of[parameter] = plan.buckets.size() - 1;
  }
  return plan;
}

}  // namespace tensorplay::nn
