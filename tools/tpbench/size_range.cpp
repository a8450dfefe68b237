#include "tools/tpbench/size_range.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <algorithm>
#include <charconv>
#include <string_view>

namespace tensorplay::tpbench {
namespace {

constexpr std::size_t kBytesMax = std::size_t{4} << 30;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// log2 of what a suffix stands for; -1 for no suffix that is known.
int shift_of(std::string_view suffix) {
  if (suffix.empty() || suffix == "B") return 0;
  if (suffix == "Ki" || suffix == "KiB") return 10;
  if (suffix == "Mi" || suffix == "MiB") return 20;
  if (suffix == "Gi" || suffix == "GiB") return 30;
  return -1;
}

std::size_t parse_size(std::string_view text, const std::string& all) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const int shift = shift_of({stop, static_cast<std::size_t>(end - stop)});
  if (error != std::errc{} || shift < 0 || number == 0 || number > (kBytesMax >> shift)) {
    throw InvalidArgument(
        fmt::format("--sizes {}: '{}' isn't a number of bytes from 1 to 4Gi, as in 4, 16Ki or 64Mi",
                    all, text));
  }
  return number << shift;
}

std::vector<std::size_t> powers(const std::vector<std::string_view>& parts,
                                const std::string& all) {
  const std::size_t first = parse_size(parts[0], all), last = parse_size(parts[1], all);
  const std::size_t factor = parts.size() == 3 ? parse_size(parts[2], all) : 4;
  if (first > last || factor < 2) {
    throw InvalidArgument(fmt::format(
        "--sizes {}: a range ascends, by a factor of at least 2, as in 4:64Mi or 4:64Mi:2", all));
  }
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size *= factor) sizes.push_back(size);
  return sizes;
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  const auto range = split(text, ':');
  if (range.size() == 2 || range.size() == 3) return powers(range, text);
  if (range.size() > 3) throw InvalidArgument("--sizes " + text + ": first:last:factor is a range");
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) sizes.push_back(parse_size(part, text));
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace tensorplay::tpbench
