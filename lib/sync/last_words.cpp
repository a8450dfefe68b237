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
#include <utility>
#include <vector>

namespace tensorplay::sync {
namespace {

// The ranks of this process. Never destroyed: the handlers may run after static destructors.
struct Speakers {
  std::mutex mutex;
  std::vector<LastWords*> ranks;
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
  for (LastWords* rank : speakers().ranks) rank->say(cause, words, status);
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

bool speak_at_next_exit() noexcept {
  return on_exit(&speak_at_exit, nullptr) == 0;
}

// Ends with its thread, which may be by exit(): before all handlers that are registered by then.
struct Registrar {
  ~Registrar() { speak_at_next_exit(); }
};

void register_again_at_the_end_of_this_thread() {
  thread_local const Registrar registrar;
  static_cast<void>(registrar);
}

}  // namespace

LastWords::LastWords(shm::Life& life, std::function<bool()> fall_silent)
    : life_(life), fall_silent_(std::move(fall_silent)) {
  Speakers& all = speakers();
  const std::lock_guard lock(all.mutex);
  static const bool installed = [&all] {
    all.next_handler = std::set_terminate(&speak_and_terminate);
    return speak_at_next_exit();
  }();
  static_cast<void>(installed);
  register_again_at_the_end_of_this_thread();
  all.ranks.push_back(this);
}

LastWords::~LastWords() {
  const std::lock_guard lock(speakers().mutex);
  std::erase(speakers().ranks, this);
}

void LastWords::say(PeerFailure::Cause cause, const std::string& words, int status) noexcept {
  if (life_.pid != getpid()) return;
  // Silent first: what peers count by the words that they find then must be all that there is.
  const bool silent = fall_silent_();
  record_end(life_, cause, words, status);
  if (silent) declare_exit(life_);
}

}  // namespace tensorplay::sync
