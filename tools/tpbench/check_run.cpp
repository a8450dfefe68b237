#include "tools/tpbench/check_run.h"

#include "tools/tpbench/campaign.h"
#include "tools/tpbench/collective_run.h"
#include "tools/tpbench/figures.h"
#include "tools/tpbench/join_run.h"

#include <algorithm>
#include <iostream>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;

constexpr std::size_t kTypesFrom = std::size_t{16} << 10;  // where bytes decide, not operations

std::vector<CollectiveKind> kinds_for(int ranks) {
  if (ranks > 2) return {CollectiveKind::all_reduce, CollectiveKind::barrier};
  return {CollectiveKind::all_reduce, CollectiveKind::barrier, CollectiveKind::broadcast,
          CollectiveKind::all_gather, CollectiveKind::reduce_scatter};
}

class CheckRun {
 public:
  explicit CheckRun(const Settings& settings) : settings_(settings) {}

  void run() {
    CampaignSettings campaign_options = campaign_settings(settings_);
    // No figure is about it, and it would take most of the time.
    std::erase(campaign_options.peers, kGloo);
    for (const int ranks : settings_.ranks) {
      Campaign campaign(ranks, campaign_options);
      for (const CollectiveKind kind : kinds_for(ranks)) measure(campaign, kind, ranks);
      if (ranks == 2) compare_types(campaign);
    }
    take(judge_join(measure_join(settings_)));
  }

  const std::vector<Figure>& figures() const noexcept { return figures_; }
  const std::vector<PointResult>& results() const noexcept { return results_; }

 private:
  void measure(Campaign& campaign, CollectiveKind kind, int ranks) {
    for (const std::size_t size : settings_.sizes) {
      const Point point{.kind = kind, .ranks = ranks, .bytes = size};
      const bool has_all = kind == CollectiveKind::all_reduce && ranks == 2;
      const auto memories =
          has_all ? std::vector<Memory>{Memory::own, Memory::allocated, Memory::shared}
                  : std::vector<Memory>{Memory::own};
      results_.push_back(campaign.measure(point, memories));
      take(judge_points({&results_.back(), 1}));
      if (point.is_barrier()) return;
    }
  }

  void compare_types(Campaign& campaign) {
    for (const std::size_t size : settings_.sizes) {
      if (size < kTypesFrom) continue;
      take(judge_types(campaign.compare_types({.bytes = size},
                                              {DType::float32, DType::bfloat16, DType::float16})));
    }
  }

  // Told as they come: the whole takes minutes.
  void take(const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) {
      std::cerr << (figure.is_reached ? "  " : "! ") << figure.what << ": " << figure.measured
                << std::endl;
    }
    figures_.insert(figures_.end(), figures.begin(), figures.end());
  }

  const Settings& settings_;
  std::vector<PointResult> results_;
  std::vector<Figure> figures_;
};

}  // namespace

int run_check(const Settings& settings) {
  CheckRun run(settings);
  run.run();
  std::cout << verdict(run.figures()) << std::flush;
  write_result_files(settings, run.results());
  return std::ranges::all_of(run.figures(), &Figure::is_reached) ? 0 : 1;
}

}  // namespace tensorplay::tpbench
