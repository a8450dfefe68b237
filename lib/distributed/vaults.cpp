#include "lib/distributed/vaults.h"

#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tensorplay::distributed {
namespace {

// More than can be in use at once: whoever has that many of the wrong sizes starts anew.
constexpr std::size_t kVaultsMax = 2 * shm::kOperationsInFlight;

}  // namespace

Vaults::~Vaults() {
  reserved_.clear();
  discard_free();
}

Vault* Vaults::take(std::size_t bytes) {
  Vault* vault = smallest_free(bytes);
  if (vault == nullptr) vault = grow(bytes);
  if (vault != nullptr) vault->in_use = true;
  return vault;
}

// One more vault; null if it's better to wait for one.
Vault* Vaults::grow(std::size_t bytes) {
  if (vaults_.size() >= kVaultsMax || !within_share(bytes)) discard_free();
  const auto makes_room = [this](const auto& vault) { return !is_free(*vault); };
  const bool can_wait = std::ranges::any_of(vaults_, makes_room);
  if (can_wait && !within_share(bytes)) return nullptr;
  try {
    return add(bytes);
  } catch (const SegmentError& error) {
    // The arena has reclaimed the free ones; those that are being read will make room later.
    if (can_wait) return nullptr;
    throw SegmentError(std::string("no room in the arena for the copy of a large contribution, "
                                   "which peers need should this rank die: ") +
                       error.what());
  }
}

Vault* Vaults::add(std::size_t bytes) {
  auto vault = std::make_unique<Vault>();
  vault->memory = arena_.allocate(bytes, "the copy of a large contribution");
  vault->bytes = bytes;
  return vaults_.emplace_back(std::move(vault)).get();
}

bool Vaults::within_share(std::size_t bytes) const noexcept {
  const std::size_t most = memory_.segment().header().share_bytes / 2;
  return bytes <= most && arena_.bytes_used() <= most - bytes;
}

void Vaults::reserve(std::size_t bytes) {
  discard_free();  // rather than keep one that is much larger
  const auto suffices = [bytes](const auto& vault) { return vault->bytes >= bytes; };
  if (std::ranges::none_of(vaults_, suffices)) add(bytes);
  reserved_.insert(bytes);
}

void Vaults::release(std::size_t bytes) noexcept {
  if (const auto one = reserved_.find(bytes); one != reserved_.end()) reserved_.erase(one);
  discard_free();
}

// The vault that is kept for those who have reserved one: it serves the largest of them.
const Vault* Vaults::reserved_one() const noexcept {
  if (reserved_.empty()) return nullptr;
  const Vault* best = nullptr;
  for (const auto& vault : vaults_) {
    if (vault->bytes < *reserved_.rbegin()) continue;
    if (best == nullptr || vault->bytes < best->bytes) best = vault.get();
  }
  return best;
}

void Vaults::give_back(Vault& vault, std::uint64_t number,
                       const collectives::MemberSet& readers) noexcept {
  vault.in_use = false;
  vault.number = number;
  vault.readers = readers;
}

bool Vaults::awaits(int member) const noexcept {
  return std::ranges::any_of(
      vaults_, [&](const auto& vault) { return !vault->in_use && is_read_by(*vault, member); });
}

bool Vaults::is_read_by(const Vault& vault, int member) const noexcept {
  return vault.readers.contains(member) && !lost_.contains(member) &&
         !sync::observe_progress(memory_.member(member).progress.consumed,
                                 sync::progress_value(vault.number, 1));
}

bool Vaults::is_free(const Vault& vault) const noexcept {
  return !vault.in_use &&
         vault.readers.all_of([&](int member) { return !is_read_by(vault, member); });
}

Vault* Vaults::smallest_free(std::size_t bytes) noexcept {
  Vault* best = nullptr;
  for (const auto& vault : vaults_) {
    if (vault->bytes < bytes || (best != nullptr && vault->bytes >= best->bytes)) continue;
    if (is_free(*vault)) best = vault.get();
  }
  return best;
}

bool Vaults::discard_free() noexcept {
  const Vault* kept = reserved_one();
  return std::erase_if(vaults_, [this, kept](const auto& vault) {
           if (vault.get() == kept || !is_free(*vault)) return false;
           arena_.deallocate(vault->memory);
           return true;
         }) > 0;
}

}  // namespace tensorplay::distributed
