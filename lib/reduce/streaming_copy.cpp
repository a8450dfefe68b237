#include "lib/reduce/streaming_copy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/reduce/streaming_copy.cpp"
// First: it includes this file once more for every vector unit but one.
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/base/cache_line.h"

#if defined(__SANITIZE_THREAD__)
#define TENSORPLAY_COPIES_PLAINLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENSORPLAY_COPIES_PLAINLY 1
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

#if defined(TENSORPLAY_COPIES_PLAINLY) || HWY_TARGET == HWY_SCALAR

void copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// A line that is written in part costs a read and a write of memory: so lines are written whole,
// one after the other.
void copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  std::size_t at = past_line == 0 ? 0 : std::min(bytes, kLineBytes - past_line);
  std::memcpy(to, from, at);
  for (; bytes - at >= kLineBytes; at += kLineBytes) {
    for (std::size_t in_line = 0; in_line < kLineBytes; in_line += lanes) {
      hn::Stream(hn::LoadU(tag, from + at + in_line), tag, to + at + in_line);
    }
  }
  std::memcpy(to + at, from + at, bytes - at);
  hwy::FlushStream();
}

#endif

}  // namespace tensorplay::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tensorplay::reduce {

HWY_EXPORT(copy);

void streaming_copy(void* destination, const void* source, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(copy)
  (static_cast<std::uint8_t*>(destination), static_cast<const std::uint8_t*>(source), bytes);
}

}  // namespace tensorplay::reduce
#endif
