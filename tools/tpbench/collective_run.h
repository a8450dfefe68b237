// The run that measures points: one table per collective, and the files that were asked for.
#pragma once

#include "tools/tpbench/campaign.h"
#include "tools/tpbench/result.h"
#include "tools/tpbench/settings.h"

#include <span>
#include <string>

namespace tensorplay::tpbench {

// Gives the exit code. Throws InvalidArgument, Error.
int run_collectives(const Settings& settings);

// Where the peers' programs lie: they are built beside this one.
std::string peer_folder();

// The settings of a campaign; finds out which peers can be measured here, and tells on stderr which
// can't.
CampaignSettings campaign_settings(const Settings& settings);

// Those files that were asked for.
void write_result_files(const Settings& settings, std::span<const PointResult> results);

}  // namespace tensorplay::tpbench
