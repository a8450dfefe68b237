// Whether a file is a segment that this program may use.
#pragma once

#include "lib/shm/layout.h"
#include "lib/shm/memory_file.h"

#include <cstddef>
#include <string>

namespace tensorplay::shm {

// All of these throw SegmentError: "<path> is refused: <reason>; <remedy>".
[[noreturn]] void refuse(const std::string& path, const std::string& reason,
                         const std::string& remedy);
// Unless the file is a plain one of this user's, which nobody else may use.
void check_owner(const MemoryFile& file, const std::string& path);
// The geometry that a published header tells, if it's one of ours and true to its file.
Geometry checked_geometry(const SegmentHeader& header, const std::string& path,
                          std::size_t file_bytes);

}  // namespace tensorplay::shm
