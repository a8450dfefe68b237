// The group of processes that train together, and its collectives.
//
// A ProcessGroup is a set of ranks 0 ... size()-1 on one host that share a memory segment. Its
// collectives are called by all of its ranks, in the same order, with the same element type, count,
// reduction and root; what differs is found before anything is delivered and thrown as the same
// CollectiveMismatch on all ranks. Inside a Join context (algorithms/join.h) ranks that have run
// out of inputs are left out; every collective tells which ranks contributed.
//
//     auto group = tensorplay::distributed::init_process_group();
//     std::vector<float> gradient(1000, 1.0f);
//     auto who = group.all_reduce(std::span(gradient), ReduceOp::avg);
//     assert(who.count() == group.size());
//
// Visibility. What rank X wrote to its source before the call is what others receive; when rank Y's
// call (or its Work's wait()) returns, Y may read its destination and reuse its source.
//
// Blocking. A blocking collective returns when this rank's part is done; all ranks have arrived by
// then, so each collective is also a barrier. Every wait ends: by its deadline (Timeout), because a
// rank has gone (PeerFailure), or because ranks disagree (CollectiveMismatch). After one of these
// the group can't be used any more, and says so at each further call. Where deaths are survived
// (PeerFailurePolicy::continue_without) a rank that has gone ends no wait but that of an operation
// whose root it was: such a wait throws PeerFailure on all, and the group stays usable. Every other
// operation is done without the rank, its Contributors say so, and it is a barrier of those who
// live.
//
// Buffers. A count may be 0; sources of up to 48 GiB always fit into one call. Destination and
// source of one call must be the same span, as the method says, or not overlap. A C array or
// std::array is passed as std::span<T>(array): its length must not be part of the span's type.
//
// Threads. One thread at a time uses the groups of a process; two at once in one group is told by
// InvalidArgument. After fork() the child can't use its parent's groups. Once a process has called
// exit(), or returned from main(), its rank has ended for the others, and its groups can't be used
// any more, by exit handlers and static objects neither: InvalidArgument.
#pragma once

#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/contributors.h>
#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/process_group_options.h>
#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/distributed/work.h>
#include <tensorplay/element.h>
#include <tensorplay/error.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace tensorplay::distributed {

class GroupEngine;  // what a ProcessGroup refers to; known to the library only

// The handle of a group. Copyable; copies refer to the same group. The group ends, for this rank,
// with its last handle: peers that wait for this rank from then on get a PeerFailure.
class ProcessGroup {
 public:
  explicit ProcessGroup(std::shared_ptr<GroupEngine> engine) noexcept
      : engine_(std::move(engine)) {}
  // Copies only: a handle always refers to a group, also one that was moved from.
  ProcessGroup(const ProcessGroup&) = default;
  ProcessGroup& operator=(const ProcessGroup&) = default;

  int rank() const noexcept;  // of this process in this group: 0 ... size()-1
  int size() const noexcept;  // of the group, joined ranks included

  // values := op over the contributors' values, element by element, on every rank. In place.
  template <Element T>
  Contributors all_reduce(std::span<T> values, ReduceOp op = ReduceOp::sum) {
    return run(all_reduce_call<T>(values, op));
  }
  template <Element T>
  Work all_reduce_async(std::span<T> values, ReduceOp op = ReduceOp::sum) {
    return start(all_reduce_call<T>(values, op));
  }

  // result := op over the contributors' values, the same bits as all_reduce gives, in memory that
  // lies once for all ranks: W ranks together read W blocks and write one, where all_reduce writes
  // W. `values` is memory of allocate(), and isn't changed; `result` is what
  // allocate_shared() of this group gave, or the same part of it on all ranks: CollectiveMismatch
  // where they differ.
  //
  // The result holds until this rank's next call with a result that overlaps it: it's overwritten
  // only when all ranks that take part have made theirs. So don't start one while another Work on
  // the same memory is still to be read. A rank that has joined reads it no more; one in step
  // reads it before its hook's next call, of whatever kind. When a call throws, contents are
  // undefined.
  template <Element T>
  Contributors all_reduce_shared(std::span<const std::type_identity_t<T>> values,
                                 std::span<const T> result, ReduceOp op = ReduceOp::sum) {
    return run(all_reduce_shared_call<T>(values, result, op));
  }
  template <Element T>
  Work all_reduce_shared_async(std::span<const std::type_identity_t<T>> values,
                               std::span<const T> result, ReduceOp op = ReduceOp::sum) {
    return start(all_reduce_shared_call<T>(values, result, op));
  }

  // On `root`, values := op over the contributors' values. Elsewhere values stay as they are.
  template <Element T>
  Contributors reduce(std::span<T> values, int root, ReduceOp op = ReduceOp::sum) {
    return run(reduce_call<T>(values, root, op));
  }
  template <Element T>
  Work reduce_async(std::span<T> values, int root, ReduceOp op = ReduceOp::sum) {
    return start(reduce_call<T>(values, root, op));
  }

  // values := root's values, on every rank. If the root has joined: InvalidArgument on all active
  // ranks, as in every collective with a root.
  template <Element T>
  Contributors broadcast(std::span<T> values, int root) {
    return run(broadcast_call<T>(values, root));
  }
  template <Element T>
  Work broadcast_async(std::span<T> values, int root) {
    return start(broadcast_call<T>(values, root));
  }

  // destination[r * n, (r + 1) * n) := rank r's source, on every rank, n = source.size();
  // destination.size() == size() * n. Blocks of absent ranks are zero. `source` may be this rank's
  // block of `destination`.
  template <Element T>
  Contributors all_gather(std::span<const std::type_identity_t<T>> source,
                          std::span<T> destination) {
    return run(all_gather_call<T>(source, destination));
  }
  template <Element T>
  Work all_gather_async(std::span<const std::type_identity_t<T>> source, std::span<T> destination) {
    return start(all_gather_call<T>(source, destination));
  }

  // destination := op over the contributors' source[rank() * n, (rank() + 1) * n),
  // n = destination.size(); source.size() == size() * n. `destination` may be this rank's block of
  // `source`.
  template <Element T>
  Contributors reduce_scatter(std::span<const std::type_identity_t<T>> source,
                              std::span<T> destination, ReduceOp op = ReduceOp::sum) {
    return run(reduce_scatter_call<T>(source, destination, op));
  }
  template <Element T>
  Work reduce_scatter_async(std::span<const std::type_identity_t<T>> source,
                            std::span<T> destination, ReduceOp op = ReduceOp::sum) {
    return start(reduce_scatter_call<T>(source, destination, op));
  }

  // As all_gather, on `root` only; elsewhere `destination` is ignored and may be empty.
  template <Element T>
  Contributors gather(std::span<const std::type_identity_t<T>> source, std::span<T> destination,
                      int root) {
    return run(gather_call<T>(source, destination, root));
  }
  template <Element T>
  Work gather_async(std::span<const std::type_identity_t<T>> source, std::span<T> destination,
                    int root) {
    return start(gather_call<T>(source, destination, root));
  }

  // destination := root's source[rank() * n, (rank() + 1) * n), n = destination.size(). `source`
  // counts on `root` only and has size() * n elements there.
  template <Element T>
  Contributors scatter(std::span<const std::type_identity_t<T>> source, std::span<T> destination,
                       int root) {
    return run(scatter_call<T>(source, destination, root));
  }
  template <Element T>
  Work scatter_async(std::span<const std::type_identity_t<T>> source, std::span<T> destination,
                     int root) {
    return start(scatter_call<T>(source, destination, root));
  }

  // destination[r * n, (r + 1) * n) := rank r's source[rank() * n, (rank() + 1) * n);
  // both have size() * n elements and don't overlap. Blocks of absent ranks are zero.
  template <Element T>
  Contributors all_to_all(std::span<const std::type_identity_t<T>> source,
                          std::span<T> destination) {
    return run(all_to_all_call<T>(source, destination));
  }
  template <Element T>
  Work all_to_all_async(std::span<const std::type_identity_t<T>> source, std::span<T> destination) {
    return start(all_to_all_call<T>(source, destination));
  }

  // Returns when all ranks have called it.
  Contributors barrier() { return run(barrier_call()); }
  Work barrier_async() { return start(barrier_call()); }

  // Collective: divides the group. The ranks that pass the same `color` form a new group, ordered
  // by `key`, then by their rank here. Throws SegmentError when no further group fits into the
  // segment (at most 64 at a time). Not to be called while some ranks have joined.
  ProcessGroup split(int color, int key);

  // `count` elements of shared memory, 64-byte aligned, zero at first. Collectives whose buffers
  // all lie in such memory copy nothing in, unless the others are to go on when a rank dies. Not
  // collective. The memory belongs to this process's
  // job and lives until deallocate() or the job's last group ends. Throws SegmentError with the
  // bytes wanted, the bytes free and the remedy, and never raises a signal later; InvalidArgument
  // for a size that can't be counted. deallocate() takes what allocate() gave, once no operation
  // uses it any more, and throws InvalidArgument for anything else; when peers may still be at it,
  // because of a failure or of an exception that leaves an operation behind, it keeps the memory
  // until the job ends. Once a call has thrown the group's failure the contents are the caller's
  // again, with one exception: a peer that was stopped while it copied a piece of an all_reduce
  // there ends that copy when it is continued, 64 KiB at most.
  template <Element T>
  std::span<T> allocate(std::size_t count) {
    return {static_cast<T*>(allocate_bytes(count, sizeof(T))), count};
  }
  template <Element T>
  void deallocate(std::span<T> memory) {
    deallocate_bytes(memory.data());
  }

  // Collective: `count` elements, zero at first, that lie once in the segment and that all ranks
  // read: for the results of all_reduce_shared(). They are taken from the arena of the group's rank
  // 0. Where deaths are survived each rank has memory of its own instead, so that no death leaves a
  // result half written. Throws the same SegmentError on all ranks if there is no room, and
  // CollectiveMismatch where ranks pass different counts. deallocate_shared() is collective, too,
  // and takes what allocate_shared() gave: the memory goes when all ranks have called it, which
  // they do when no Work uses it any more. Neither is to be called while some ranks have joined:
  // InvalidArgument.
  template <Element T>
  std::span<const T> allocate_shared(std::size_t count) {
    return {static_cast<const T*>(allocate_shared_bytes(count, sizeof(T))), count};
  }
  template <Element T>
  void deallocate_shared(std::span<const T> memory) {
    deallocate_shared_bytes(memory.data());
  }

  // The longest a wait of this group lasts, unless JoinOptions or the call say otherwise.
  std::chrono::milliseconds timeout() const noexcept;

  // Whether the others go on when a rank of this group dies.
  PeerFailurePolicy on_peer_failure() const noexcept;

  // Whether two handles refer to the same group.
  friend bool operator==(const ProcessGroup& a, const ProcessGroup& b) noexcept {
    return a.engine_ == b.engine_;
  }

  // For the layers of this library that stand on the group: what it refers to; and whose calls are
  // made through this handle, 1 + the place of a Joinable in its context's list, or 0.
  GroupEngine& engine() const noexcept { return *engine_; }
  std::uint16_t tag() const noexcept { return tag_; }
  void set_tag(std::uint16_t tag) noexcept { tag_ = tag; }
  // Likewise, a handle whose calls are told as parts of something else.
  ProcessGroup as_part_of(CallPurpose purpose) const {
    ProcessGroup handle = *this;
    handle.purpose_ = purpose;
    return handle;
  }

 private:
  // What each method calls. They throw InvalidArgument where the lengths don't fit.
  template <Element T>
  static CollectiveCall all_reduce_call(std::span<T> values, ReduceOp op) {
    return call_of<T>(CollectiveKind::all_reduce, op, 0, values.size(), values.data(),
                      values.data());
  }
  // The library writes there: the memory is the group's, only this view of it is read-only.
  template <Element T>
  static CollectiveCall all_reduce_shared_call(std::span<const T> values, std::span<const T> result,
                                               ReduceOp op) {
    expect_equal("all_reduce_shared", values.size(), result.size());
    return call_of<T>(CollectiveKind::all_reduce_shared, op, 0, values.size(), values.data(),
                      const_cast<T*>(result.data()));
  }
  template <Element T>
  static CollectiveCall reduce_call(std::span<T> values, int root, ReduceOp op) {
    return call_of<T>(CollectiveKind::reduce, op, root, values.size(), values.data(),
                      values.data());
  }
  template <Element T>
  static CollectiveCall broadcast_call(std::span<T> values, int root) {
    return call_of<T>(CollectiveKind::broadcast, ReduceOp::sum, root, values.size(), values.data(),
                      values.data());
  }
  template <Element T>
  CollectiveCall all_gather_call(std::span<const std::type_identity_t<T>> source,
                                 std::span<T> destination) const {
    expect_blocks("all_gather", "destination", destination.size(), source.size());
    return call_of<T>(CollectiveKind::all_gather, ReduceOp::sum, 0, source.size(), source.data(),
                      destination.data());
  }
  template <Element T>
  CollectiveCall reduce_scatter_call(std::span<const std::type_identity_t<T>> source,
                                     std::span<T> destination, ReduceOp op) const {
    expect_blocks("reduce_scatter", "source", source.size(), destination.size());
    return call_of<T>(CollectiveKind::reduce_scatter, op, 0, destination.size(), source.data(),
                      destination.data());
  }
  template <Element T>
  CollectiveCall gather_call(std::span<const std::type_identity_t<T>> source,
                             std::span<T> destination, int root) const {
    if (rank() == root) {
      expect_blocks("gather", "destination", destination.size(), source.size());
    }
    return call_of<T>(CollectiveKind::gather, ReduceOp::sum, root, source.size(), source.data(),
                      destination.data());
  }
  template <Element T>
  CollectiveCall scatter_call(std::span<const std::type_identity_t<T>> source,
                              std::span<T> destination, int root) const {
    if (rank() == root) {
      expect_blocks("scatter", "source", source.size(), destination.size());
    }
    return call_of<T>(CollectiveKind::scatter, ReduceOp::sum, root, destination.size(),
                      source.data(), destination.data());
  }
  template <Element T>
  CollectiveCall all_to_all_call(std::span<const std::type_identity_t<T>> source,
                                 std::span<T> destination) const {
    const std::size_t count = blocks_of("all_to_all", source.size(), destination.size());
    return call_of<T>(CollectiveKind::all_to_all, ReduceOp::sum, 0, count, source.data(),
                      destination.data());
  }
  static CollectiveCall barrier_call() noexcept {
    return call_of<std::uint8_t>(CollectiveKind::barrier, ReduceOp::sum, 0, 0, nullptr, nullptr);
  }
  template <Element T>
  static CollectiveCall call_of(CollectiveKind kind, ReduceOp op, int root, std::size_t count,
                                const void* source, void* destination) noexcept {
    return {kind, dtype_of<T>(), op, root, count, source, destination};
  }

  CollectiveCall tagged(const CollectiveCall& call) const noexcept;
  Work start(const CollectiveCall& call);
  Contributors run(const CollectiveCall& call);
  void expect_blocks(const char* operation, const char* buffer, std::size_t have,
                     std::size_t block) const;
  std::size_t blocks_of(const char* operation, std::size_t source, std::size_t destination) const;
  static void expect_equal(const char* operation, std::size_t values, std::size_t result);
  void* allocate_shared_bytes(std::size_t count, std::size_t element_bytes);
  void deallocate_shared_bytes(const void* memory);
  void* allocate_bytes(std::size_t count, std::size_t element_bytes);
  void deallocate_bytes(void* memory);

  std::shared_ptr<GroupEngine> engine_;
  std::uint16_t tag_ = 0;
  CallPurpose purpose_ = CallPurpose::itself;
};

// The group of all ranks of the job that the options name. Collective: returns when all ranks have
// attached; from then on nothing of the job is left in the file system. Throws InvalidArgument for
// options that can't be right, Timeout naming the ranks that didn't come, SegmentError.
ProcessGroup init_process_group(ProcessGroupOptions options = from_environment());

}  // namespace tensorplay::distributed
