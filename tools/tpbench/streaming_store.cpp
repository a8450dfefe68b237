#include "tools/tpbench/streaming_store.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tensorplay::tpbench {

void stream_fill(std::span<std::byte> bytes, unsigned char value) {
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % kLine;
  const __m128i word = _mm_set1_epi8(static_cast<char>(value));
  std::size_t at = 0;
  for (; misaligned == 0 && at + kLine <= bytes.size(); at += kLine) {
    auto* line = reinterpret_cast<__m128i*>(bytes.data() + at);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(line + i, word);
  }
  std::memset(bytes.data() + at, value, bytes.size() - at);
  _mm_sfence();
#else
  std::memset(bytes.data(), value, bytes.size());
#endif
}

}  // namespace tensorplay::tpbench
