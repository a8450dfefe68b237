// A /dev/shm of a test's own, as small as it likes.
#pragma once

#include <functional>
#include <string>

namespace tensorplay::testing {

// What report_with_own_dev_shm() returns where the system lets nobody mount.
inline constexpr const char* kSkipped =
    "skipped: this machine lets no test mount a file system of its own";

// Runs `body` in a child of this process, which must have one thread; there /dev/shm is an empty
// tmpfs, mounted with these options ("size=64m"). Returns the body's findings, as ChildProcess.
std::string report_with_own_dev_shm(const std::string& options,
                                    const std::function<std::string()>& body);

}  // namespace tensorplay::testing
