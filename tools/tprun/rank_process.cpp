#include "tools/tprun/rank_process.h"

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace tensorplay::tprun {
namespace {

using multiprocessing::Pipe;

void set(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

void set_environment(const Settings& settings, int rank) {
  const std::string world_size = std::to_string(settings.ranks);
  set("RANK", std::to_string(rank));
  set("WORLD_SIZE", world_size);
  set("LOCAL_RANK", std::to_string(rank));
  set("LOCAL_WORLD_SIZE", world_size);
  set("TENSORPLAY_JOB", settings.job);
  set("TENSORPLAY_LAUNCH", settings.launch);
  set("TENSORPLAY_ON_PEER_FAILURE", distributed::name(settings.on_peer_failure));
  if (!settings.timeout_s.empty()) set("TENSORPLAY_TIMEOUT_S", settings.timeout_s);
}

void redirect(int descriptor, int standard) {
  if (descriptor >= 0) ::dup2(descriptor, standard);
}

[[noreturn]] void execute(const Settings& settings) {
  std::vector<char*> arguments;
  for (const std::string& word : settings.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // execvp doesn't write to them
  }
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw std::system_error(errno, std::generic_category());
}

// Tells the parent by the pipe, which a successful exec closes, why there was none.
[[noreturn]] void become_rank(const Settings& settings, int rank, const RankStreams& streams,
                              const SignalInbox& signals, const cpu_set_t* cpus, int error_pipe) {
  ::setpgid(0, 0);
  // A CPU may have gone since it was chosen: then the rank runs where it may.
  if (cpus != nullptr) ::sched_setaffinity(0, sizeof(*cpus), cpus);
  redirect(streams.input, STDIN_FILENO);
  redirect(streams.output, STDOUT_FILENO);
  redirect(streams.error, STDERR_FILENO);
  int error = 0;
  try {
    set_environment(settings, rank);
    signals.restore();
    execute(settings);
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  } catch (...) {
    error = ENOMEM;
  }
  // If nobody reads it, nobody waits for this process either.
  if (::write(error_pipe, &error, sizeof(error)) < 0) ::_exit(126);
  ::_exit(127);
}

// 0 when the program runs.
int wait_for_exec(const Pipe& errors) {
  int error = 0;
  ssize_t bytes;
  do {
    bytes = ::read(errors.read_end.get(), &error, sizeof(error));
  } while (bytes < 0 && errno == EINTR);
  return bytes == sizeof(error) ? error : 0;
}

}  // namespace

RankProcess RankProcess::start(const Settings& settings, int rank, const RankStreams& streams,
                               const SignalInbox& signals, const cpu_set_t* cpus) {
  Pipe errors = multiprocessing::make_pipe();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    multiprocessing::die_with_parent(parent);
    become_rank(settings, rank, streams, signals, cpus, errors.write_end.get());
  }
  errors.write_end.close();
  if (const int error = wait_for_exec(errors); error != 0) {
    ::waitpid(pid, nullptr, 0);
    throw ProgramError(error, std::generic_category());
  }
  return {rank, pid};
}

void RankProcess::signal_group(int signal) const noexcept {
  ::kill(-pid(), signal);
}

}  // namespace tensorplay::tprun
