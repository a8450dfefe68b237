// Files that a run leaves: whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace tensorplay::train {

// Throws InvalidArgument, naming both options, if they name one and the same file.
void require_different(const std::filesystem::path& path, std::string_view option,
                       const std::filesystem::path& other, std::string_view other_option);

// Throws InvalidArgument, naming `option`, unless a file can be made at `path`: tries it beside the
// path with an empty file, which is gone again on return. What lies at `path` stays as it is.
void require_writable(const std::filesystem::path& path, std::string_view option);

// Replaces what is at `path` by `text`, in one step: readers, and whoever interrupts the program,
// find the old file or the new one, nothing in between. A link is followed, and what isn't a file
// (a pipe, a device) is written to. Throws InvalidArgument, leaving nothing behind.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace tensorplay::train
