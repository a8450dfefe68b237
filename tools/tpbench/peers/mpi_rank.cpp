// A rank of an MPI job that tpbench measures beside ours: the same loop, the same values, the same
// check, by MPI's collectives. Compiled once for each implementation of MPI.
//
// Started by tpbench: mpirun -n 2 openmpi PATH_OF_THE_RIG

#include "tools/tpbench/measurement.h"
#include "tools/tpbench/private_memory.h"
#include "tools/tpbench/rig.h"

#include <tensorplay/error.h>

#include <mpi.h>
#include <array>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;

MPI_Datatype datatype_of(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return MPI_INT8_T;
    case DType::int16:
      return MPI_INT16_T;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::uint16:
      return MPI_UINT16_T;
    case DType::uint32:
      return MPI_UINT32_T;
    case DType::uint64:
      return MPI_UINT64_T;
    case DType::float32:
      return MPI_FLOAT;
    case DType::float64:
      return MPI_DOUBLE;
    case DType::float16:
    case DType::bfloat16:
      break;
  }
  throw Error(std::string("MPI has no ") + name(dtype));
}

MPI_Op operation_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::product:
      return MPI_PROD;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::band:
      return MPI_BAND;
    case ReduceOp::bor:
      return MPI_BOR;
    case ReduceOp::bxor:
      return MPI_BXOR;
    case ReduceOp::avg:
      break;
  }
  throw Error(std::string("MPI has no ") + name(op));
}

// One call, blocking (no request) or not.
struct Call {
  CollectiveKind kind;
  MPI_Datatype type;
  MPI_Op op;
  int count;
  bool is_root;
  std::byte* source;
  std::byte* target;

  void block() const;
  void start(MPI_Request* request) const;
};

void Call::block() const {
  const MPI_Comm all = MPI_COMM_WORLD;
  switch (kind) {
    case CollectiveKind::barrier:
      MPI_Barrier(all);
      break;
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_reduce_shared:  // a way of ours to make one
      MPI_Allreduce(MPI_IN_PLACE, target, count, type, op, all);
      break;
    case CollectiveKind::reduce:
      MPI_Reduce(is_root ? MPI_IN_PLACE : source, target, count, type, op, kRoot, all);
      break;
    case CollectiveKind::broadcast:
      MPI_Bcast(target, count, type, kRoot, all);
      break;
    case CollectiveKind::all_gather:
      MPI_Allgather(source, count, type, target, count, type, all);
      break;
    case CollectiveKind::reduce_scatter:
      MPI_Reduce_scatter_block(source, target, count, type, op, all);
      break;
    case CollectiveKind::gather:
      MPI_Gather(source, count, type, target, count, type, kRoot, all);
      break;
    case CollectiveKind::scatter:
      MPI_Scatter(source, count, type, target, count, type, kRoot, all);
      break;
    case CollectiveKind::all_to_all:
      MPI_Alltoall(source, count, type, target, count, type, all);
      break;
  }
}

void Call::start(MPI_Request* request) const {
  const MPI_Comm all = MPI_COMM_WORLD;
  switch (kind) {
    case CollectiveKind::barrier:
      MPI_Ibarrier(all, request);
      break;
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_reduce_shared:  // a way of ours to make one
      MPI_Iallreduce(MPI_IN_PLACE, target, count, type, op, all, request);
      break;
    case CollectiveKind::reduce:
      MPI_Ireduce(is_root ? MPI_IN_PLACE : source, target, count, type, op, kRoot, all, request);
      break;
    case CollectiveKind::broadcast:
      MPI_Ibcast(target, count, type, kRoot, all, request);
      break;
    case CollectiveKind::all_gather:
      MPI_Iallgather(source, count, type, target, count, type, all, request);
      break;
    case CollectiveKind::reduce_scatter:
      MPI_Ireduce_scatter_block(source, target, count, type, op, all, request);
      break;
    case CollectiveKind::gather:
      MPI_Igather(source, count, type, target, count, type, kRoot, all, request);
      break;
    case CollectiveKind::scatter:
      MPI_Iscatter(source, count, type, target, count, type, kRoot, all, request);
      break;
    case CollectiveKind::all_to_all:
      MPI_Ialltoall(source, count, type, target, count, type, all, request);
      break;
  }
}

// Blocking calls, or as many at once as the point has sets of buffers.
void run(const std::vector<Call>& calls) {
  if (calls.size() == 1) return calls.front().block();
  std::array<MPI_Request, kCallsInFlight> requests;
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i].start(&requests[i]);
  MPI_Waitall(static_cast<int>(calls.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void measure_mpi(RigRank& rank, const Order& order) {
  const Point& point = order.point;
  const std::size_t element = element_bytes(point.dtype);
  std::vector<PrivateMemory> memory;
  Subject subject;
  std::vector<Call> calls;
  for (int i = 0; i < point.buffer_sets(); ++i) {
    const std::size_t source_bytes = point.source_count() * element;
    const std::size_t target_bytes = point.destination_count() * element;
    Subject::Buffers buffers;
    buffers.source = memory.emplace_back(source_bytes).bytes().first(source_bytes);
    buffers.destination = buffers.source;
    if (!point.is_in_place()) {
      buffers.destination = memory.emplace_back(target_bytes).bytes().first(target_bytes);
    }
    subject.buffers.push_back(buffers);
    calls.push_back({point.kind, datatype_of(point.dtype), operation_of(point.op),
                     static_cast<int>(point.block_count()), rank.rank() == kRoot,
                     buffers.source.data(), buffers.destination.data()});
  }
  subject.run = [&] { run(calls); };
  measure(rank, order, subject);
}

int serve(const char* rig_path) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    Rig rig = Rig::open(rig_path);
    if (ranks != rig.memory().ranks) throw Error("the rig is for another number of ranks");
    RigRank(rig, rank).serve(measure_mpi);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "rank " << rank << ": " << error.what() << std::endl;
  } catch (const OtherRankFailed&) {
    // It tells.
  }
  return MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace
}  // namespace tensorplay::tpbench

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "started by tpbench, as: mpirun -n 2 program PATH_OF_THE_RIG" << std::endl;
    return 2;
  }
  MPI_Init(&argc, &argv);
  const int code = tensorplay::tpbench::serve(argv[1]);
  MPI_Finalize();
  return code;
}
