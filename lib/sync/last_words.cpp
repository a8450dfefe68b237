#include "lib/sync/last_words.h"

#include "lib/base/exception_text.h"
#include "lib/sync/liveness.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace tensorplay::sync {
namespace {

// The ranks of this process. Never destroyed: the handlers may run after static destructors.
struct Speakers {
  std::mutex mutex;
  std::vector<shm::Life*> lives;
  std::terminate_handler next_handler = nullptr;
};

Speakers& speakers() {
  static auto& all = *new Speakers;
  return all;
}

void say(PeerFailure::Cause cause, const std::string& words,
         int status = PeerFailure::kUnknownStatus) noexcept {
  // Whoever ends while another thread is just at it ends without a word.
  const std::unique_lock lock(speakers().mutex, std::try_to_lock);
  if (!lock) return;
  for (shm::Life* life : speakers().lives) {
    if (life->pid == getpid()) record_end(*life, cause, words, status);
  }
}

[[noreturn]] void speak_and_terminate() noexcept {
  try {
    if (std::current_exception()) {
      say(PeerFailure::Cause::raised, "raised " + text_of_current_exception());
    }
  } catch (...) {
    // No memory for the words: the signal will have to do.
  }
  if (speakers().next_handler != nullptr) speakers().next_handler();
  std::abort();
}

void speak_at_exit(int exit_code, void*) noexcept {
  try {
    const int code = exit_code & 0xff;
    say(PeerFailure::Cause::exited, "exited with code " + std::to_string(code), code);
  } catch (...) {
    // As above.
  }
}

}  // namespace

LastWords::LastWords(shm::Life& life) : life_(life) {
  Speakers& all = speakers();
  const std::lock_guard lock(all.mutex);
  static const bool installed = [&all] {
    all.next_handler = std::set_terminate(&speak_and_terminate);
    return on_exit(&speak_at_exit, nullptr) == 0;
  }();
  static_cast<void>(installed);
  all.lives.push_back(&life_);
}

LastWords::~LastWords() {
  const std::lock_guard lock(speakers().mutex);
  std::erase(speakers().lives, &life_);
}

}  // namespace tensorplay::sync
