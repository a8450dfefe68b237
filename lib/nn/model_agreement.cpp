#include "lib/nn/model_agreement.h"

#include "lib/nn/fnv.h"

#include <fmt/core.h>
#include <tensorplay/error.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace tensorplay::nn {

namespace {

using distributed::Contributors;
using distributed::ProcessGroup;

constexpr char kEndOfLine = '\0';

std::string join_lines(const ModelOutline& outline) {
  std::string text;
  for (const std::string& line : outline) text.append(line).push_back(kEndOfLine);
  return text;
}

ModelOutline split_lines(std::string_view text) {
  ModelOutline outline;
  for (std::size_t end = text.find(kEndOfLine); end != std::string_view::npos;
       end = text.find(kEndOfLine)) {
    outline.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return outline;
}

// The first step: what is small and of the same size on all ranks.
struct Digest {
  std::uint64_t hash;
  std::uint64_t bytes;
};

struct Digests {
  Contributors ranks;
  std::vector<std::uint64_t> words;  // hash and bytes, for each rank

  Digest of(int rank) const {
    const auto place = 2 * static_cast<std::size_t>(rank);
    return {words[place], words[place + 1]};
  }
};

Digests gather_digests(const std::string& text, ProcessGroup& group) {
  const std::uint64_t own[] = {fnv1a(std::as_bytes(std::span(text))), text.size()};
  Digests digests;
  digests.words.resize(2 * static_cast<std::size_t>(group.size()));
  digests.ranks = group.all_gather<std::uint64_t>(own, digests.words);
  return digests;
}

// The second step, when the digests differ: the texts themselves, padded to the longest.
std::vector<ModelOutline> gather_outlines(const std::string& text, const Digests& digests,
                                          ProcessGroup& group) {
  std::uint64_t longest = 0;
  for (int rank : digests.ranks.ranks()) longest = std::max(longest, digests.of(rank).bytes);
  std::vector<std::uint8_t> own(text.begin(), text.end());
  own.resize(longest);
  std::vector<std::uint8_t> all(longest * static_cast<std::size_t>(group.size()));
  group.all_gather<std::uint8_t>(own, all);

  std::vector<ModelOutline> outlines(static_cast<std::size_t>(group.size()));
  for (int rank : digests.ranks.ranks()) {
    const auto index = static_cast<std::size_t>(rank);
    const auto block = std::span(all).subspan(index * longest, digests.of(rank).bytes);
    outlines[index] = split_lines(std::string(block.begin(), block.end()));
  }
  return outlines;
}

}  // namespace

void expect_equal_outlines(const ModelOutline& own, ProcessGroup group) {
  group = group.as_part_of(distributed::CallPurpose::model_check);
  const std::string text = join_lines(own);
  const Digests digests = gather_digests(text, group);
  const std::vector<int> ranks = digests.ranks.ranks();
  const int first = ranks.front();
  const bool equal = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    return digests.of(rank).hash == digests.of(first).hash &&
           digests.of(rank).bytes == digests.of(first).bytes;
  });
  if (equal) return;

  const std::vector<ModelOutline> outlines = gather_outlines(text, digests, group);
  for (int rank : ranks) {
    const std::string words = describe_difference(outlines[static_cast<std::size_t>(first)], first,
                                                  outlines[static_cast<std::size_t>(rank)], rank);
    if (words.empty()) continue;
    throw CollectiveMismatch(
        fmt::format("DistributedDataParallel: the ranks pass different models: {}. Pass the same "
                    "parameters, buffers and options, in the same order, on all ranks.",
                    words));
  }
}

std::string describe_difference(const ModelOutline& first, int first_rank,
                                const ModelOutline& second, int second_rank) {
  const auto line = [](const ModelOutline& outline, std::size_t i) {
    return i < outline.size() ? outline[i] : std::string("nothing more");
  };
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    const std::string of_first = line(first, i);
    const std::string of_second = line(second, i);
    if (of_first == of_second) continue;
    return fmt::format("rank {} has {}, rank {} has {}", first_rank, of_first, second_rank,
                       of_second);
  }
  return {};
}

}  // namespace tensorplay::nn
