#include "tests/conformance/plan.h"

#include "tests/conformance/oracle.h"

#include <algorithm>

namespace tensorplay::conformance {
namespace {

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

bool is_real(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

// Lets what a case needn't fix take turns, each at a pace of its own.
class Turns {
 public:
  explicit Turns(int world_size) : world_size_(world_size) {}

  Case next(CollectiveKind kind, DType dtype, std::size_t count) {
    const std::vector<ReduceOp> ops = ops_of(dtype);
    const int roots[] = {0, world_size_ / 2, world_size_ - 1};
    ++turn_;
    Case one{.kind = kind, .dtype = dtype, .count = count};
    if (reduces(kind)) one.op = ops[turn_ % ops.size()];
    one.root = roots[turn_ % 3];
    one.in_place = turn_ % 2 == 0;
    one.memory = static_cast<Memory>(turn_ / 2 % 4);
    one.shift = turn_ / 3 % 3 == 0 ? 0 : turn_ / 3 % 3;
    one.special = is_real(dtype) && turn_ % 5 == 0;
    one.salt = turn_;
    return one;
  }

 private:
  int world_size_;
  std::size_t turn_ = 0;
};

}  // namespace

const std::vector<CollectiveKind>& all_kinds() {
  using enum CollectiveKind;
  static const std::vector<CollectiveKind> kinds = {barrier,   all_reduce, reduce,
                                                    broadcast, all_gather, reduce_scatter,
                                                    gather,    scatter,    all_to_all};
  return kinds;
}

const std::vector<DType>& all_dtypes() {
  using enum DType;
  static const std::vector<DType> dtypes = {int8,   int16,  int32,   int64,    uint8,   uint16,
                                            uint32, uint64, float16, bfloat16, float32, float64};
  return dtypes;
}

std::vector<ReduceOp> ops_of(DType dtype) {
  using enum ReduceOp;
  if (is_real(dtype)) return {sum, avg, product, min, max};
  return {sum, avg, product, min, max, band, bor, bxor};
}

std::vector<Case> kinds_by_counts(int world_size, const std::vector<std::size_t>& counts) {
  Turns turns(world_size);
  std::vector<Case> cases;
  std::size_t turn = 0;
  for (std::size_t count : counts) {
    for (CollectiveKind kind : all_kinds()) {
      cases.push_back(turns.next(kind, all_dtypes()[turn++ % all_dtypes().size()], count));
    }
    ++turn;  // or kinds and types would stay in step
  }
  return cases;
}

std::vector<Case> every_reduction(int world_size) {
  constexpr std::size_t kCounts[] = {1, 5, 16, 33, 100, 257};
  Turns turns(world_size);
  std::vector<Case> cases;
  for (CollectiveKind kind : all_kinds()) {
    if (!reduces(kind)) continue;
    for (DType dtype : all_dtypes()) {
      for (ReduceOp op : ops_of(dtype)) {
        cases.push_back(turns.next(kind, dtype, kCounts[cases.size() % 6]));
        cases.back().op = op;
      }
    }
  }
  return cases;
}

std::vector<Case> boundaries(int world_size) {
  constexpr std::size_t kBytes[] = {32, 64, 4096, 8192, 16384, 65536, 131072, 262144};
  constexpr DType kTypes[] = {DType::float32, DType::int8, DType::float64, DType::bfloat16};
  Turns turns(world_size);
  std::vector<Case> cases;
  for (std::size_t bytes : kBytes) {
    for (CollectiveKind kind : all_kinds()) {
      const DType dtype = kTypes[cases.size() / 3 % 4];
      const std::size_t count = bytes / element_bytes(dtype);
      for (std::size_t near : {count - 1, count, count + 1}) {
        cases.push_back(turns.next(kind, dtype, near));
      }
    }
  }
  return cases;
}

std::vector<Case> large_blocks(int world_size) {
  constexpr std::size_t kBytes = (std::size_t{3} << 20) + 200;
  Turns turns(world_size);
  std::vector<Case> cases;
  for (CollectiveKind kind : all_kinds()) {
    for (DType dtype : {DType::float32, DType::int64}) {
      cases.push_back(turns.next(kind, dtype, kBytes / element_bytes(dtype) + 1));
    }
  }
  return cases;
}

Case any_case(int world_size, std::uint64_t& random, std::size_t bytes_max) {
  random = mix(random);
  const auto kind = all_kinds()[random % all_kinds().size()];
  const DType dtype = all_dtypes()[(random >> 8) % all_dtypes().size()];
  const std::vector<ReduceOp> ops = ops_of(dtype);
  // Small counts are as likely as large ones: the size's magnitude is what is drawn evenly.
  const std::uint64_t draw = mix(random);
  const std::size_t most = bytes_max / element_bytes(dtype);
  std::size_t below = std::size_t{1} << (draw % 32);
  below = std::min(below, most);
  return {
      .kind = kind,
      .dtype = dtype,
      .op = reduces(kind) ? ops[(random >> 16) % ops.size()] : ReduceOp::sum,
      .root = static_cast<int>((random >> 24) % static_cast<std::uint64_t>(world_size)),
      .count = (draw >> 8) % (below + 1),
      .in_place = (random >> 32) % 2 == 0,
      .memory = (random >> 33) % 4 == 0 ? static_cast<Memory>((random >> 35) % 4) : Memory::own,
      .shift = (random >> 40) % 3,
      .special = is_real(dtype) && (random >> 44) % 4 == 0,
      .salt = draw,
  };
}

}  // namespace tensorplay::conformance
