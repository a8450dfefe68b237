// The names that jobs have: what the ranks of one job share and no other job of this user has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tensorplay::distributed {

inline constexpr std::size_t kJobNameBytesMax = 128;

// Throws InvalidArgument unless the name is 1 ... kJobNameBytesMax letters, digits, '.', '_' and
// '-'. The message tells which character is wrong and which are right.
void check_job_name(std::string_view name);

// A right name for any text. A text that is right is its own name; otherwise wrong characters
// become '_', what is too long is cut, and a hash of the whole text is added: names of different
// texts differ.
std::string job_name_from(std::string_view text);

// A number for what tells one start of a job from another: the same in every process, never 0.
std::uint64_t launch_from(std::string_view text) noexcept;

}  // namespace tensorplay::distributed
