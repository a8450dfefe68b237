#include "tests/conformance/operation.h"

#include "tests/conformance/buffer.h"
#include "tests/conformance/oracle.h"
#include "tests/worlds/worlds.h"

#include <exception>
#include <sstream>

namespace tensorplay::conformance {
namespace {

const char* name(Memory memory) {
  switch (memory) {
    case Memory::own:
      return "own memory";
    case Memory::shared:
      return "shared memory";
    case Memory::some_shared:
      return "shared memory on even ranks";
    case Memory::shared_source:
      return "shared source";
  }
  return "unknown";
}

// How many blocks each buffer of a rank has, and whether the two are one.
struct Shape {
  std::size_t source_blocks = 1;
  std::size_t destination_blocks = 1;
  bool one_buffer = false;
};

Shape shape_of(CollectiveKind kind, std::size_t size, bool is_root) {
  switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
      return {1, 1, true};
    case CollectiveKind::all_gather:
      return {1, size, false};
    case CollectiveKind::reduce_scatter:
      return {size, 1, false};
    case CollectiveKind::gather:
      return {1, is_root ? size : 0, false};
    case CollectiveKind::scatter:
      return {is_root ? size : 0, 1, false};
    case CollectiveKind::all_to_all:
      return {size, size, false};
    case CollectiveKind::barrier:
    case CollectiveKind::all_reduce_shared:  // has tests of its own: its memory is all ranks'
      break;
  }
  return {0, 0, true};
}

template <Element T>
class TypedOperation final : public Operation {
 public:
  TypedOperation(const ProcessGroup& group, const Case& one)
      : group_(group),
        case_(one),
        pattern_{one.salt, one.op, one.special},
        rank_(group.rank()),
        shape_(shape_of(one.kind, static_cast<std::size_t>(group.size()), rank_ == one.root)),
        source_buffer_(group, shape_.source_blocks * one.count, one.shift, source_is_shared()),
        destination_buffer_(group, shape_.one_buffer ? 0 : shape_.destination_blocks * one.count,
                            one.shift, destination_is_shared()) {
    place_buffers();
    for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = passed(rank_, i);
  }

  void start() override { work_ = start_work(); }
  bool is_completed() override { return work_.is_completed(); }
  Contributors wait() override { return work_.wait(); }

  std::string finish(const Contributors& expected) override {
    const Contributors who = work_.wait();
    if (who != expected) {
      return "contributors are " + to_string(who) + ", not " + to_string(expected);
    }
    if (work_.contributors() != who) return "contributors differ after wait()";
    if (work_.result() != who.count()) return "result() isn't the number of contributors";
    contributors_ = who.ranks();
    if (std::string wrong = check_destination(); !wrong.empty()) return wrong;
    if (std::string wrong = check_source(); !wrong.empty()) return wrong;
    if (!source_buffer_.surroundings_intact()) return "wrote around the source";
    if (!destination_buffer_.surroundings_intact()) return "wrote around the destination";
    return "";
  }

 private:
  bool source_is_shared() const {
    if (case_.memory == Memory::some_shared) return rank_ % 2 == 0;
    return case_.memory != Memory::own;
  }
  bool destination_is_shared() const {
    return source_is_shared() && case_.memory != Memory::shared_source;
  }

  std::size_t own_block() const { return static_cast<std::size_t>(rank_) * case_.count; }

  void place_buffers() {
    source_ = source_buffer_.values();
    destination_ = shape_.one_buffer ? source_ : destination_buffer_.values();
    if (!case_.in_place || shape_.one_buffer) return;
    if (case_.kind == CollectiveKind::all_gather) {
      source_ = destination_.subspan(own_block(), case_.count);
    } else if (case_.kind == CollectiveKind::reduce_scatter) {
      destination_ = source_.subspan(own_block(), case_.count);
    } else if (case_.kind == CollectiveKind::gather && rank_ == case_.root) {
      source_ = destination_.subspan(own_block(), case_.count);
    }
  }

  T passed(int rank, std::size_t index) const { return value_at<T>(pattern_, rank, index); }

  Work start_work() {
    switch (case_.kind) {
      case CollectiveKind::barrier:
        return group_.barrier_async();
      case CollectiveKind::all_reduce:
        return group_.all_reduce_async(source_, case_.op);
      case CollectiveKind::reduce:
        return group_.reduce_async(source_, case_.root, case_.op);
      case CollectiveKind::broadcast:
        return group_.broadcast_async(source_, case_.root);
      case CollectiveKind::all_gather:
        return group_.all_gather_async<T>(source_, destination_);
      case CollectiveKind::reduce_scatter:
        return group_.reduce_scatter_async<T>(source_, destination_, case_.op);
      case CollectiveKind::gather:
        return group_.gather_async<T>(source_, destination_, case_.root);
      case CollectiveKind::scatter:
        return group_.scatter_async<T>(source_, destination_, case_.root);
      case CollectiveKind::all_to_all:
        return group_.all_to_all_async<T>(source_, destination_);
      case CollectiveKind::all_reduce_shared:
        break;
    }
    throw std::logic_error("no such collective");
  }

  T folded(std::size_t index) {
    folded_.clear();
    for (int rank : contributors_) folded_.push_back(passed(rank, index));
    return fold<T>(case_.op, folded_);
  }

  // What rank r's block `index / count` of a gathering destination holds; zero if it was absent.
  T gathered(std::size_t index, std::size_t first_in_source) const {
    const int rank = static_cast<int>(index / case_.count);
    for (int contributor : contributors_) {
      if (contributor == rank) return passed(rank, first_in_source + index % case_.count);
    }
    return T{};
  }

  T wanted(std::size_t index) {
    switch (case_.kind) {
      case CollectiveKind::all_reduce:
        return folded(index);
      case CollectiveKind::reduce:
        return rank_ == case_.root ? folded(index) : passed(rank_, index);
      case CollectiveKind::broadcast:
        return passed(case_.root, index);
      case CollectiveKind::reduce_scatter:
        return folded(own_block() + index);
      case CollectiveKind::scatter:
        return passed(case_.root, own_block() + index);
      case CollectiveKind::all_gather:
      case CollectiveKind::gather:
        return gathered(index, 0);
      default:
        return gathered(index, own_block());
    }
  }

  static std::string text_of(T value) {
    std::ostringstream text;
    text.precision(17);
    if constexpr (kIsHalf<T>) {
      text << static_cast<float>(value);
    } else {
      text << +value;
    }
    return text.str();
  }

  std::string check_destination() {
    for (std::size_t i = 0; i < destination_.size(); ++i) {
      const T want = wanted(i);
      if (same(destination_[i], want)) continue;
      return "destination[" + std::to_string(i) + "] is " + text_of(destination_[i]) + ", not " +
             text_of(want);
    }
    return "";
  }

  // The source is as it was, but where the destination lies in it.
  std::string check_source() {
    if (shape_.one_buffer) return "";
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const T* at = &source_[i];
      if (at >= destination_.data() && at < destination_.data() + destination_.size()) continue;
      if (!same(source_[i], passed(rank_, i))) return "wrote into the source";
    }
    return "";
  }

  ProcessGroup group_;
  Case case_;
  Pattern pattern_;
  int rank_;
  Shape shape_;
  Buffer<T> source_buffer_;
  Buffer<T> destination_buffer_;
  std::span<T> source_;
  std::span<T> destination_;
  Work work_;
  std::vector<int> contributors_;
  std::vector<T> folded_;
};

}  // namespace

std::string to_string(const Case& one) {
  std::string text = std::string(distributed::name(one.kind)) + " " + tensorplay::name(one.dtype) +
                     " " + distributed::name(one.op) + ", " + std::to_string(one.count) +
                     " elements, root " + std::to_string(one.root) + ", " + name(one.memory);
  if (one.in_place) text += ", in place";
  if (one.shift != 0) text += ", shifted by " + std::to_string(one.shift);
  if (one.special) text += ", special values";
  return text;
}

std::unique_ptr<Operation> make_operation(const ProcessGroup& group, const Case& one) {
  return with_type(one.dtype, [&]<typename T>(std::type_identity<T>) -> std::unique_ptr<Operation> {
    return std::make_unique<TypedOperation<T>>(group, one);
  });
}

Contributors everyone(int size) {
  Contributors ranks;
  for (int rank = 0; rank < size; ++rank) ranks.insert(rank);
  return ranks;
}

std::string run_cases(ProcessGroup& group, const std::vector<Case>& cases) {
  const Contributors all = everyone(group.size());
  for (const Case& one : cases) {
    std::string wrong;
    try {
      const std::unique_ptr<Operation> operation = make_operation(group, one);
      operation->start();
      wrong = operation->finish(all);
    } catch (...) {
      wrong = worlds::describe(std::current_exception());
    }
    if (!wrong.empty()) return to_string(one) + ": " + wrong;
  }
  return "";
}

}  // namespace tensorplay::conformance
