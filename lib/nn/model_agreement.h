// Whether all ranks mean the same model.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <string>
#include <string_view>
#include <vector>

namespace tensorplay::nn {

// What all ranks have to pass alike, one part a line: "parameter 1 'weight' with 12 elements".
// Lines may hold any character but NUL.
using ModelOutline = std::vector<std::string>;

// Collective. Throws CollectiveMismatch, with the same text on all ranks, if a rank's outline
// differs from that of the lowest rank: naming the two ranks and the first lines that differ. Sends
// a hash only as long as all agree.
void expect_equal_outlines(const ModelOutline& own, distributed::ProcessGroup group);

// The first difference between two ranks' outlines, in words; empty if there is none.
std::string describe_difference(const ModelOutline& first, int first_rank,
                                const ModelOutline& second, int second_rank);

}  // namespace tensorplay::nn
