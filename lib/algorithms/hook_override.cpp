#include "lib/algorithms/hook_override.h"

#include <cstddef>
#include <cstring>

namespace tensorplay::distributed::algorithms {
namespace {

#if !defined(__GXX_ABI_VERSION)
#error "overrides_main_hook() reads a virtual table of the Itanium C++ ABI"
#endif

// What a pointer to a virtual member function holds in the Itanium C++ ABI: 1 + the offset of the
// function's entry in the virtual table, then the adjustment of `this`. (On AArch64 the 1 is in the
// second word instead.)
struct MemberFunctionPointer {
  std::ptrdiff_t pointer;
  std::ptrdiff_t adjustment;
};

std::ptrdiff_t entry_offset() noexcept {
  void (JoinHook::*function)() = &JoinHook::main_hook;
  MemberFunctionPointer parts{};
  static_assert(sizeof(parts) == sizeof(function));
  std::memcpy(&parts, &function, sizeof(parts));
  return parts.pointer & ~std::ptrdiff_t{1};
}

// The address of the function that hook.main_hook() would call.
const void* main_hook_of(const JoinHook& hook) noexcept {
  const std::byte* table = nullptr;
  std::memcpy(&table, static_cast<const void*>(&hook), sizeof(table));
  const void* function = nullptr;
  std::memcpy(&function, table + entry_offset(), sizeof(function));
  return function;
}

}  // namespace

// Here and not in the header: one address, in whatever shared object the hook's class is.
void JoinHook::main_hook() {}

bool overrides_main_hook(const JoinHook& hook) noexcept {
  static const JoinHook plain;
  return main_hook_of(hook) != main_hook_of(plain);
}

}  // namespace tensorplay::distributed::algorithms
