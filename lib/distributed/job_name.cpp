#include "lib/distributed/job_name.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstdio>

namespace tensorplay::distributed {
namespace {

constexpr std::string_view kRule = "letters, digits, '.', '_' and '-', at most 128 of them";
static_assert(kJobNameBytesMax == 128);

// Whatever the locale says.
constexpr bool is_right(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '.' || character == '_' ||
         character == '-';
}

std::string shown(char character) {
  const auto byte = static_cast<unsigned char>(character);
  if (byte >= 0x20 && byte < 0x7f) return std::string("'") + character + "'";
  char text[16];
  std::snprintf(text, sizeof(text), "byte 0x%02x", byte);
  return text;
}

// FNV-1a: the same in every process, which std::hash doesn't promise.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
  return hash;
}

std::string digits_of(std::uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace

void check_job_name(std::string_view name) {
  if (name.empty()) {
    throw InvalidArgument("the job name is empty; right are " + std::string(kRule));
  }
  const auto wrong = std::find_if_not(name.begin(), name.end(), is_right);
  if (wrong != name.end()) {
    throw InvalidArgument("the job name has " + shown(*wrong) + " at position " +
                          std::to_string(wrong - name.begin()) + "; right are " +
                          std::string(kRule));
  }
  if (name.size() > kJobNameBytesMax) {
    throw InvalidArgument("the job name has " + std::to_string(name.size()) +
                          " characters; right are " + std::string(kRule));
  }
}

std::string job_name_from(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_right(c); }, '_');
  if (name == text && !name.empty() && name.size() <= kJobNameBytesMax) return name;
  const std::string hash = "-" + digits_of(hash_of(text));
  name.resize(std::min(name.size(), kJobNameBytesMax - hash.size()));
  return name + hash;
}

std::uint64_t launch_from(std::string_view text) noexcept {
  const std::uint64_t hash = hash_of(text);
  return hash == 0 ? 1 : hash;
}

}  // namespace tensorplay::distributed
