#include "lib/inspect/job_finder.h"

#include "lib/shm/segment.h"

#include <sys/stat.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace tensorplay::inspect {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;
using Found = std::map<FileId, FoundJob>;

constexpr std::string_view kAnonymous = "/memfd:tensorplay";

FileId id_of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino};
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The job's name, from what a link to its file says; "" for anonymous memory.
std::string name_in(const std::string& target, const std::string& prefix) {
  if (!target.starts_with(prefix)) return "";
  constexpr std::string_view kRemoved = " (deleted)";
  std::string name = target.substr(prefix.size());
  if (name.ends_with(kRemoved)) name.resize(name.size() - kRemoved.size());
  return name;
}

void look_at_names(const std::string& prefix, Found& found) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev/shm", ignored)) {
    const std::string path = entry.path();
    struct stat status {};
    if (!path.starts_with(prefix) || lstat(path.c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode)) found[id_of(status)] = {name_in(path, prefix), path, {}};
  }
}

void look_at_process(int pid, const std::string& prefix, Found& found) {
  std::error_code error;
  const fs::path folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (!target.starts_with(kAnonymous) && !target.starts_with(prefix)) continue;
    struct stat status {};
    if (stat(entry.path().c_str(), &status) != 0) continue;
    FoundJob& job = found[id_of(status)];
    if (job.path.empty()) {
      job.path = entry.path();
      job.name = name_in(target, prefix);
    }
    if (job.pids.empty() || job.pids.back() != pid) job.pids.push_back(pid);
  }
}

std::vector<int> processes() {
  std::vector<int> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (is_number(name)) pids.push_back(std::stoi(name));
  }
  std::ranges::sort(pids);
  return pids;
}

}  // namespace

std::vector<FoundJob> find_jobs() {
  const std::string prefix = "/dev/shm/" + shm::Segment::name_of("");
  Found found;
  look_at_names(prefix, found);
  for (const int pid : processes()) look_at_process(pid, prefix, found);
  std::vector<FoundJob> jobs;
  for (auto& [id, job] : found) {
    if (job.name.empty()) job.name = std::to_string(job.pids.front());
    jobs.push_back(std::move(job));
  }
  std::ranges::sort(jobs, {}, &FoundJob::name);
  return jobs;
}

}  // namespace tensorplay::inspect
