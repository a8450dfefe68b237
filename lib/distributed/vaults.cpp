#include "lib/distributed/vaults.h"

#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <string>

namespace tensorplay::distributed {
namespace {

// More than can be in use at once: whoever has that many of the wrong sizes starts anew.
constexpr std::size_t kVaultsMax = 2 * shm::kOperationsInFlight;

}  // namespace

Vaults::~Vaults() {
  discard_free();
}

Vault* Vaults::take(std::size_t bytes) {
  Vault* vault = smallest_free(bytes);
  if (vault == nullptr) {
    if (vaults_.size() >= kVaultsMax) discard_free();
    std::byte* memory = nullptr;
    try {
      memory = arena_.allocate(bytes);
    } catch (const SegmentError& error) {
      // The arena has reclaimed the free ones; those that are being read will make room later.
      if (!vaults_.empty()) return nullptr;
      throw SegmentError(std::string("no room in the arena for the copy of a large contribution, "
                                     "which peers need should this rank die: ") +
                         error.what());
    }
    vaults_.push_back(std::make_unique<Vault>(Vault{memory, bytes, false, {}, 0}));
    vault = vaults_.back().get();
  }
  vault->in_use = true;
  return vault;
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
  return std::erase_if(vaults_, [this](const auto& vault) {
           if (!is_free(*vault)) return false;
           arena_.deallocate(vault->memory);
           return true;
         }) > 0;
}

}  // namespace tensorplay::distributed
