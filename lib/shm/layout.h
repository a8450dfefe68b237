// The binary interface: what lies where in the shared segment.
//
//   offset 0       header_bytes                      arenas_offset                          size
//   +--------------+-----------------+---------------+----------+----------+-----+----------+
//   | Segment-     | RankBlock       | group slots   | arena of | arena of | ... | arena of |
//   | Header       | x world_size    | x kGroup-     | rank 0   | rank 1   |     | last rank|
//   |              |                 |   CountMax    |          |          |     |          |
//   +--------------+-----------------+---------------+----------+----------+-----+----------+
//                                    |
//         one group slot:            +-------------+----------------------+-------------------+
//                                    | GroupHeader | MemberBlock          | staging           |
//                                    |             | x world_size         | x world_size      |
//                                    +-------------+----------------------+-------------------+
//
// The segment is sparse: each part begins on a page of its own and takes memory only when a rank
// reserves it. Fresh memory is zero, and zero is the initial state of everything below.
//
// Every word has ONE writer, named beside it, or is changed by atomic read-modify-write only. Words
// that different ranks write never share a pair of cache lines. No pointers: processes map the
// segment at different addresses. The orders of the accesses are in lib/sync, one named operation
// each; what is read from here is checked before it is used.
#pragma once

#include "lib/base/cache_line.h"

#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/contributors.h>
#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/streaming_stores.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tensorplay::shm {

// --- Limits, part of the interface ---------------------------------------------------------------

// "TNSRPLAY" in the order of the bytes: tells our segments from other people's files.
inline constexpr std::uint64_t kMagic = 0x59414c5052534e54;
inline constexpr std::uint32_t kLayoutVersion = 14;  // bump on any change in this file

using distributed::kRankCountMax;
inline constexpr int kGroupCountMax = 64;

// The unit in which memory is taken and given back.
inline constexpr std::size_t kPageBytes = 4096;

// Operations of one group that a rank may have posted and not completed.
inline constexpr std::uint64_t kOperationsInFlight = 8;
// Arrival lines and post slots per member. Twice the above: whoever posts operation n has completed
// n - kOperationsInFlight, so all ranks had posted that one, so all had completed
// n - 2 * kOperationsInFlight: nobody reads that slot any more.
inline constexpr std::uint64_t kOperationSlots = 2 * kOperationsInFlight;

inline constexpr std::size_t kInlineBytes = 32;        // payload inside the arrival line
inline constexpr std::size_t kPostBytes = 8 * 1024;    // payload of one post slot
inline constexpr std::size_t kChunkBytes = 64 * 1024;  // one staging buffer: stays in L2
inline constexpr std::size_t kStagingBuffers = 4;      // chunks of one rank under way

// Progress words hold operation << kRoundBits | rounds done, so that they only ever grow.
inline constexpr int kRoundBits = 20;

// --- Per rank of the job -------------------------------------------------------------------------

enum class LifeState : std::uint32_t {
  absent = 0,    // nobody has taken this place yet
  attached = 1,  // the rank is in the job
  left = 2,      // the rank gave up its last group in good order
  raised = 3,    // the rank gave up its last group while an exception was on its way
  exiting = 4,   // its process is about to end, and uses no group any more; `end` tells how
};

// How a rank ended, in words. Filled by whoever has taken its number (Life::end_records_taken),
// read only once Life::end names it, and constant from then on.
struct EndRecord {
  std::uint32_t cause;         // PeerFailure::Cause
  std::int32_t status;         // exit code or signal; PeerFailure::kUnknownStatus
  std::array<char, 256> text;  // ends in '\0'
};
// Whoever fills one and is stopped or dies before it counts wastes it. When none is left ends are
// told without words.
inline constexpr std::uint32_t kEndRecords = 4;

// Whether a rank lives. The robust mutex is locked as long as its rank is in the job; when the
// rank's thread ends, for whatever reason, the kernel marks the mutex's word, which peers read by a
// plain load. Whether the process has ended with the thread tells the lock of the rank's process on
// the segment's file: Segment::lock_rank().
struct Life {
  std::atomic<LifeState> state;  // writer: the process that has the rank's lock
  std::int32_t pid;              // written before `attached`, then constant
  // How the rank ended: 0, 1 + the number of an EndRecord, or cause and status without words, as
  // lib/sync/end_word.h has them. Changed once, from 0, by whoever knows first: the rank itself, if
  // it has last words, its parent, or a survivor.
  std::atomic<std::uint64_t> end;
  std::atomic<std::uint32_t> end_records_taken;  // grows by one for each that is to be filled
  std::uint64_t pid_namespace;                   // inode of the PID namespace in which `pid` counts
  std::uint64_t start_time;  // of the process, in clock ticks since boot: tells pids apart
  pthread_mutex_t mutex;     // robust, process-shared; held by the rank
  std::array<EndRecord, kEndRecords> end_records;
};

// Where a rank sleeps. A sleeper writes whom it waits for, then looks once more, then sleeps on
// `rings`; whoever publishes something rings those who wait for it.
struct Doorbell {
  std::atomic<std::uint32_t> rings;  // futex word; grows by one for each ring. writer: any
  // writer: the rank; once it is dead, a survivor. 0: awake; 1 + world rank; or these:
  std::atomic<std::uint32_t> sleeping_for;
};
inline constexpr std::uint32_t kAnyRank = 0xffffffff;    // whatever any rank publishes
inline constexpr std::uint32_t kAllJoined = 0xfffffffe;  // only that ranks join, or fail

enum class Doing : std::uint8_t {
  user_code = 0,  // no wait of this library, or one that is too short to tell
  operation = 1,  // waits in a collective
  iteration = 2,  // waits until the others have announced an iteration of a join context, or joined
  joined = 3,     // has joined, and waits until all have
  in_step = 4,    // has joined, and waits for what the active ranks do next
  start = 5,      // waits for the job's other ranks to attach
};

// What the rank is doing. For the reports of its peers and for viewers: nothing else depends on it.
// Each word is right by itself; together they may be a moment apart. writer: the rank.
struct Activity {
  std::atomic<std::uint64_t> waiting;   // for what: as sync::packed() has it; 0 in user code
  std::atomic<std::int64_t> since_ns;   // it waits, or doesn't wait any more; CLOCK_MONOTONIC
  std::atomic<std::int64_t> called_ns;  // it last posted an operation; some milliseconds coarse
};

struct RankBlock {
  alignas(kSeparationBytes) Doorbell doorbell;
  alignas(kSeparationBytes) Activity activity;
  alignas(kSeparationBytes) Life life;
};

// --- Per job -------------------------------------------------------------------------------------

enum class SegmentState : std::uint32_t { building = 0, ready = 1 };

// How results are copied to large destinations: through the caches, or past them.
enum class CopyStores : std::uint32_t { undecided = 0, plain = 1, streaming = 2 };
// Destinations of kCopyClassBytes or more are divided into classes, each from four times the bytes
// of the one before.
inline constexpr std::size_t kCopyClassBytes = 256 * 1024;
inline constexpr int kCopyClasses = 5;

struct SegmentHeader {
  // Written by the maker, then constant; valid once `state` is ready.
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::uint32_t world_size;
  std::uint64_t segment_bytes;
  std::uint64_t arena_bytes;  // per rank
  std::uint64_t launch;       // which start of the job made it, told by the launcher; 0: untold
  // Per rank: its part of what was free beyond the start, where deaths are survived; else 0.
  std::uint64_t share_bytes;
  std::uint32_t owner_uid;
  distributed::PeerFailurePolicy on_peer_failure;
  distributed::StreamingStores streaming_stores;
  std::atomic<SegmentState> state;

  // Ranks asleep anywhere in the job: whoever publishes something looks here before it looks at
  // doorbells. Read often, written only around a sleep.
  alignas(kSeparationBytes) std::atomic<std::uint32_t> sleeper_count;
  // Joined ranks asleep until all have joined: looked at only by a rank that joins or fails.
  std::atomic<std::uint32_t> joined_sleeper_count;
  // Who has which group slot: 0: nobody; kSlotInUse; kSlotEmptied; else the slot of the group that
  // is being divided << 16 | 1 + the job rank that has taken this one, and is telling it to the
  // others. Taken by compare-exchange, then written by whoever has it. The first one isn't used:
  // its group lives as long as the job.
  alignas(kSeparationBytes) std::array<std::atomic<std::uint32_t>, kGroupCountMax> group_slots;
  // Ranks that have attached, ever; and the union of the CPUs that they may run on.
  alignas(kSeparationBytes) std::atomic<std::uint32_t> attached_count;
  std::array<std::atomic<std::uint64_t>, 16> usable_cpus;
  // By class of sizes, where `streaming_stores` leaves it to measurement. Settled once, by the
  // first rank that has measured it: by compare-exchange from `undecided`.
  alignas(kSeparationBytes) std::array<std::atomic<CopyStores>, kCopyClasses> copy_stores;
};

inline constexpr std::uint32_t kSlotInUse = 0xffffffff;    // by a group whose members know it
inline constexpr std::uint32_t kSlotEmptied = 0xfffffffe;  // its memory is being given back

// --- Per group -----------------------------------------------------------------------------------

enum class FailureKind : std::uint32_t { peer_failure = 1, mismatch = 2, timeout = 3, damage = 4 };

// Why the group can't be used any more, in the words of one member. Read only once
// GroupHeader::failure names it, and constant from then on.
struct FailureRecord {
  FailureKind kind;
  std::int32_t rank;            // that failed, for peer_failure
  std::uint32_t cause;          // PeerFailure::Cause
  std::int32_t pid;             // of the rank that failed; 0: unknown
  std::int32_t status;          // its exit code or signal; PeerFailure::kUnknownStatus
  std::array<char, 4056> text;  // ends in '\0'
};

struct GroupHeader {
  // 0, or 1 + the member whose FailureRecord counts for all. Changed once, from 0, by the first
  // member that has filled its own: who is stopped or dies before that has told nothing.
  alignas(kSeparationBytes) std::atomic<std::uint32_t> failure;
  // Members that are counted as users of the slot; the last one out frees it. Set by the leader of
  // a split.
  alignas(kSeparationBytes) std::atomic<std::uint32_t> user_count;
  std::uint32_t member_count;                            // set by the leader, then constant
  std::array<std::uint16_t, kRankCountMax> world_ranks;  // of the members; likewise
  // One bit per member that isn't counted any more: it has left, or died. writer: any
  std::array<std::atomic<std::uint64_t>, kRankCountMax / 64> uncounted;
};

// What an arrival says beside its descriptor.
enum ArrivalFlags : std::uint8_t {
  kShadow = 1,              // a joined rank in step: contributes nothing
  kSupplies = 2,            // a shadow that supplies the values, being the root
  kSourceInArena = 4,       // payload begins with the source's offset in the segment
  kDestinationInArena = 8,  // payload goes on with the destination's offset
  kVaulted = 16,            // payload begins with the offset of the vault that holds the source
  kStagedAhead = 32,        // the first round lies in the staging buffer already, whole
  kCrowded = 64,            // the rank knows of fewer CPUs than the group has ranks
};
// Whatever the flags, the second word of the payload of an all_reduce_shared names the place of its
// result, if that isn't empty: the same on all ranks.
inline constexpr std::size_t kResultPlace = 1;

// One rank's part in one operation: the descriptor, and as much of the data as fits beside it.
// A reader that sees `number` == n sees the rest of the line, and whatever the rank had written
// into its post slot for n. writer: the member.
struct alignas(kLineBytes) ArrivalLine {
  std::array<std::byte, kInlineBytes> payload;
  std::atomic<std::uint64_t> number;  // of the operation, from 1
  std::uint64_t count;
  distributed::CollectiveKind kind;
  DType dtype;
  distributed::ReduceOp op;
  std::uint8_t flags;  // ArrivalFlags
  std::uint8_t root;
  distributed::CallPurpose purpose;  // for reports only
  std::uint16_t tag;                 // the Joinable that made the call: 1 + place in the list, or 0
  std::uint32_t context;             // fingerprint of the join context, 0 outside of one
  std::uint32_t iteration;           // announced so far in that context
};

// How far the member is in a large operation. All three words only grow. writer: the member.
struct Progress {
  std::atomic<std::uint64_t> staged;    // rounds whose data lie in the staging buffers
  std::atomic<std::uint64_t> reduced;   // rounds whose slice is reduced, in the staging buffers
  std::atomic<std::uint64_t> consumed;  // rounds that the member has read from everyone
};

// What the member tells about one join context. Contexts alternate between two boards: a rank can't
// be two contexts ahead of another, since a context ends when all have joined. writer: the member.
struct JoinBoard {
  std::atomic<std::uint64_t> announced;  // generation << kIterationBits | iterations announced
  std::atomic<std::uint64_t> joined;     // the generation, once the member has joined
  std::uint64_t final_operation;  // the member's next operation when it joined; with `joined`
  std::int64_t joined_at_ns;      // on CLOCK_MONOTONIC; valid with `joined`
  std::uint32_t fingerprint;      // of `config` and the generation; valid with `announced`
  std::uint32_t reserved;
  // The Joinables, flags and arguments, as a text that ends in '\0'; valid with `announced`.
  alignas(kLineBytes) std::array<char, 448> config;
};
inline constexpr int kIterationBits = 40;

enum class Departure : std::uint32_t { none = 0, left = 1, raised = 2 };

struct MemberBlock {
  std::array<ArrivalLine, kOperationSlots> arrivals;
  // The member takes no part in operations from this one on, until the context ends. Counts only if
  // it isn't older than the context. Only grows. writer: the member.
  alignas(kSeparationBytes) std::atomic<std::uint64_t> absent_from;
  // The member has given up the group. writer: the member, once.
  std::atomic<Departure> departure;
  // Why, if it was by an exception and the others go on: ends in '\0'; valid with `departure`.
  std::array<char, 256> departure_text;
  alignas(kSeparationBytes) Progress progress;
  // Operations up to this one have ended on the member. For reports only. writer: the member.
  alignas(kSeparationBytes) std::atomic<std::uint64_t> completed;
  alignas(kSeparationBytes) std::array<JoinBoard, 2> boards;
  FailureRecord failure;  // writer: the member, before it names itself in GroupHeader::failure
  // Payloads of small operations, by number modulo kOperationSlots.
  alignas(kPageBytes) std::array<std::array<std::byte, kPostBytes>, kOperationSlots> posts;
};

inline constexpr std::size_t kStagingBytes = kStagingBuffers * kChunkBytes;  // per member

// --- Why this may be shared ----------------------------------------------------------------------

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "a lock inside an atomic would exist once per process");
static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "a futex word has four bytes");
static_assert(sizeof(ArrivalLine) == kLineBytes,
              "an arrival is one line: who sees the number has fetched the payload");
static_assert(
    offsetof(ArrivalLine, payload) == 0,
    "a vector load of the payload, masked or not, must not reach into the next line: that one "
    "is about to be written, and to fetch it costs as much as the exchange itself");
static_assert(kRankCountMax <= 256, "a root has 8 bits");
static_assert(sizeof(Progress) <= kLineBytes, "three words of one writer, polled together");
static_assert(offsetof(JoinBoard, config) == kLineBytes, "notifying touches one line");
static_assert(kChunkBytes % kPageBytes == 0 && kPostBytes % kPageBytes == 0,
              "parts begin on pages, so that vector loads are aligned");
static_assert(std::is_standard_layout_v<SegmentHeader> && std::is_standard_layout_v<RankBlock> &&
                  std::is_standard_layout_v<GroupHeader> && std::is_standard_layout_v<MemberBlock>,
              "processes built by different compilers must agree on the offsets");
static_assert(std::is_trivially_destructible_v<SegmentHeader> &&
                  std::is_trivially_destructible_v<MemberBlock>,
              "memory of a segment is never destroyed, only unmapped");

// --- Where it lies -------------------------------------------------------------------------------

// The offsets, in bytes, of a segment for so many ranks. Pure arithmetic.
struct Geometry {
  int world_size = 0;
  std::size_t arena_bytes = 0;  // per rank, whole pages
  std::size_t rank_blocks_offset = 0;
  std::size_t groups_offset = 0;
  std::size_t group_bytes = 0;     // of one group slot
  std::size_t members_offset = 0;  // within a group slot
  std::size_t member_bytes = 0;
  std::size_t staging_offset = 0;  // within a group slot
  std::size_t arenas_offset = 0;
  std::size_t segment_bytes = 0;

  // Throws InvalidArgument for a world size out of range or sizes whose sum overflows.
  static Geometry of(int world_size, std::size_t arena_bytes);

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

}  // namespace tensorplay::shm
