// A Gloo job that tpbench measures beside ours: the same loop, the same values, the same check, by
// Gloo's collectives over its TCP transport on the loopback device; it has none by shared memory.
//
// Starts its ranks by itself. Started by tpbench: gloo PATH_OF_THE_RIG
//
// Of Gloo's two interfaces the older one, of algorithms that are made once for their buffers, can
// poll its sockets instead of sleeping in epoll: a fifth of the time where each rank has a CPU
// (and a disaster where not). It is used where it has the collective. Of its algorithms for
// all_reduce halving-doubling was the best at all sizes, or as good as the best.

#include "lib/multiprocessing/run_children.h"
#include "tools/tpbench/measurement.h"
#include "tools/tpbench/peers/shared_store.h"
#include "tools/tpbench/private_memory.h"
#include "tools/tpbench/rig.h"

#include <tensorplay/error.h>

#include <gloo/algorithm.h>
#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;
using SharedContext = std::shared_ptr<gloo::Context>;
using Operation = std::function<void()>;

// Connections for each of the two interfaces: what polls can't serve the newer one.
struct Contexts {
  SharedContext polling;
  SharedContext waiting;
};

struct Buffers {
  std::byte* source;
  std::byte* target;
};

SharedContext connect(SharedStore& store, const RigRank& rank, bool polls) {
  gloo::transport::tcp::attr attributes("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank.rank(), rank.ranks());
  context->setTimeout(std::chrono::minutes(2));
  context->connectFullMesh(store, device);
  for (int other = 0; polls && other < rank.ranks(); ++other) {
    if (other != rank.rank()) context->getPair(other)->setSync(true, true);
  }
  return context;
}

template <typename T>
const gloo::ReductionFunction<T>* reduction_of(ReduceOp op) {
  if (op == ReduceOp::sum) return gloo::ReductionFunction<T>::sum;
  if (op == ReduceOp::product) return gloo::ReductionFunction<T>::product;
  if (op == ReduceOp::min) return gloo::ReductionFunction<T>::min;
  if (op == ReduceOp::max) return gloo::ReductionFunction<T>::max;
  throw Error(std::string("Gloo has no ") + name(op));
}

template <typename T>
gloo::ReduceOptions::Func function_of(ReduceOp op) {
  using Function = void (*)(void*, const void*, const void*, std::size_t);
  if (op == ReduceOp::sum) return static_cast<Function>(&gloo::sum<T>);
  if (op == ReduceOp::product) return static_cast<Function>(&gloo::product<T>);
  if (op == ReduceOp::min) return static_cast<Function>(&gloo::min<T>);
  if (op == ReduceOp::max) return static_cast<Function>(&gloo::max<T>);
  throw Error(std::string("Gloo has no ") + name(op));
}

Operation run_of(std::shared_ptr<gloo::Algorithm> algorithm) {
  return [algorithm = std::move(algorithm)] { algorithm->run(); };
}

template <typename T>
Operation reduction(const Point& point, const Contexts& contexts, Buffers buffers) {
  auto* values = reinterpret_cast<T*>(buffers.source);
  const auto count = static_cast<int>(point.source_count());
  if (point.kind == CollectiveKind::all_reduce) {
    return run_of(std::make_shared<gloo::AllreduceHalvingDoubling<T>>(
        contexts.polling, std::vector<T*>{values}, count, reduction_of<T>(point.op)));
  }
  if (point.kind == CollectiveKind::reduce_scatter) {
    const std::vector<int> blocks(static_cast<std::size_t>(point.ranks),
                                  static_cast<int>(point.block_count()));
    return run_of(std::make_shared<gloo::ReduceScatterHalvingDoubling<T>>(
        contexts.polling, std::vector<T*>{values}, count, blocks, reduction_of<T>(point.op)));
  }
  auto options = std::make_shared<gloo::ReduceOptions>(contexts.waiting);
  // Gloo reduces in the output of every rank, and ours is to stay as it is where there is no root.
  if (contexts.waiting->rank != kRoot) options->setInput(values, point.source_count());
  options->setOutput(reinterpret_cast<T*>(buffers.target), point.source_count());
  options->setRoot(kRoot);
  options->setReduceFunction(function_of<T>(point.op));
  return [options] { gloo::reduce(*options); };
}

Operation typed_reduction(const Point& point, const Contexts& contexts, Buffers buffers) {
  switch (point.dtype) {
    case DType::int8:
      return reduction<std::int8_t>(point, contexts, buffers);
    case DType::int16:
      return reduction<std::int16_t>(point, contexts, buffers);
    case DType::int32:
      return reduction<std::int32_t>(point, contexts, buffers);
    case DType::int64:
      return reduction<std::int64_t>(point, contexts, buffers);
    case DType::uint8:
      return reduction<std::uint8_t>(point, contexts, buffers);
    case DType::uint16:
      return reduction<std::uint16_t>(point, contexts, buffers);
    case DType::uint32:
      return reduction<std::uint32_t>(point, contexts, buffers);
    case DType::uint64:
      return reduction<std::uint64_t>(point, contexts, buffers);
    case DType::float32:
      return reduction<float>(point, contexts, buffers);
    case DType::float64:
      return reduction<double>(point, contexts, buffers);
    case DType::float16:
      return reduction<gloo::float16>(point, contexts, buffers);
    case DType::bfloat16:
      break;
  }
  throw Error(std::string("Gloo has no ") + name(point.dtype));
}

Operation gather(const SharedContext& context, Buffers buffers, std::size_t block) {
  auto options = std::make_shared<gloo::GatherOptions>(context);
  options->setInput(buffers.source, block);
  if (context->rank == kRoot) {
    options->setOutput(buffers.target, block * static_cast<std::size_t>(context->size));
  }
  options->setRoot(kRoot);
  return [options] { gloo::gather(*options); };
}

Operation scatter(const SharedContext& context, Buffers buffers, std::size_t block) {
  auto options = std::make_shared<gloo::ScatterOptions>(context);
  if (context->rank == kRoot) {
    std::vector<std::byte*> blocks;
    for (int rank = 0; rank < context->size; ++rank) {
      blocks.push_back(buffers.source + static_cast<std::size_t>(rank) * block);
    }
    options->setInputs(blocks, block);
  }
  options->setOutput(buffers.target, block);
  options->setRoot(kRoot);
  return [options] { gloo::scatter(*options); };
}

Operation all_to_all(const SharedContext& context, Buffers buffers, std::size_t block) {
  auto options = std::make_shared<gloo::AlltoallOptions>(context);
  const std::size_t whole = block * static_cast<std::size_t>(context->size);
  options->setInput(buffers.source, whole);
  options->setOutput(buffers.target, whole);
  return [options] { gloo::alltoall(*options); };
}

// What only moves bytes has them as its elements.
Operation operation_of(const Point& point, const Contexts& contexts, Buffers buffers) {
  const std::size_t block = point.block_count() * element_bytes(point.dtype);
  auto* source = reinterpret_cast<char*>(buffers.source);
  auto* target = reinterpret_cast<char*>(buffers.target);
  switch (point.kind) {
    case CollectiveKind::barrier:
      return run_of(std::make_shared<gloo::BarrierAllToAll>(contexts.polling));
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_reduce_shared:  // a way of ours to make one
    case CollectiveKind::reduce:
    case CollectiveKind::reduce_scatter:
      return typed_reduction(point, contexts, buffers);
    case CollectiveKind::broadcast:
      return run_of(std::make_shared<gloo::BroadcastOneToAll<char>>(
          contexts.polling, std::vector<char*>{target}, static_cast<int>(block), kRoot));
    case CollectiveKind::all_gather:
      return run_of(std::make_shared<gloo::AllgatherRing<char>>(
          contexts.polling, std::vector<const char*>{source}, target, static_cast<int>(block)));
    case CollectiveKind::gather:
      return gather(contexts.waiting, buffers, block);
    case CollectiveKind::scatter:
      return scatter(contexts.waiting, buffers, block);
    case CollectiveKind::all_to_all:
      return all_to_all(contexts.waiting, buffers, block);
  }
  throw Error(std::string("Gloo has no ") + name(point.kind));
}

void measure_gloo(RigRank& rank, const Order& order, const Contexts& contexts) {
  const Point& point = order.point;
  if (point.calls == Calls::asynchronous) throw Error("Gloo's calls all block");
  const std::size_t element = element_bytes(point.dtype);
  const std::size_t source_bytes = point.source_count() * element;
  const std::size_t target_bytes = point.destination_count() * element;
  PrivateMemory source(source_bytes), target(target_bytes);
  Subject::Buffers buffers{source.bytes().first(source_bytes), target.bytes().first(target_bytes)};
  // Gloo leaves the own block at the front of what it reduces.
  const bool is_own = point.is_in_place() || point.kind == CollectiveKind::reduce_scatter;
  if (is_own) buffers.destination = buffers.source.first(target_bytes);
  Subject subject;
  subject.buffers.push_back(buffers);
  const bool has_scratch = point.kind == CollectiveKind::reduce && rank.rank() != kRoot;
  std::byte* output = has_scratch ? target.bytes().data() : buffers.destination.data();
  subject.run = operation_of(point, contexts, {buffers.source.data(), output});
  // All have made theirs: the first bytes to arrive find a buffer.
  rank.meet();
  measure(rank, order, subject);
}

void serve(Rig& rig, SharedStore& polling, SharedStore& waiting, int number) {
  RigRank rank(rig, number);
  const bool has_cpus = rank.ranks() <= count_of(rank.memory().cpus);
  const Contexts contexts{connect(polling, rank, has_cpus), connect(waiting, rank, false)};
  rank.serve([&](RigRank& self, const Order& order) {
    // Gloo's own threads need room beside those that poll.
    bind_to_all(self.memory().cpus);
    measure_gloo(self, order, contexts);
  });
}

int run(const char* rig_path) {
  Rig rig = Rig::open(rig_path);
  const int ranks = rig.memory().ranks;
  SharedStore polling(ranks), waiting(ranks);
  const auto failure = multiprocessing::run_children(
      ranks, [&](int number) { serve(rig, polling, waiting, number); });
  if (failure) std::cerr << failure->message << std::endl;
  return failure ? 1 : 0;
}

}  // namespace
}  // namespace tensorplay::tpbench

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "started by tpbench, as: gloo PATH_OF_THE_RIG" << std::endl;
    return 2;
  }
  try {
    return tensorplay::tpbench::run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
