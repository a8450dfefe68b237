#include "tools/tpbench/collective_run.h"

#include "tools/tpbench/log_plot.h"
#include "tools/tpbench/peer_job.h"
#include "tools/tpbench/report.h"
#include "tools/train/output_file.h"

#include <fmt/core.h>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;

bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
}

bool is_float(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

// One table: the points that differ in size only.
std::vector<Point> tables_of(const Settings& settings, int ranks) {
  std::vector<Point> tables;
  for (const CollectiveKind kind : settings.kinds) {
    for (const DType dtype : settings.dtypes) {
      for (const ReduceOp op : settings.ops) {
        for (const Calls calls : settings.calls) {
          const Point point{.kind = kind, .dtype = dtype, .op = op, .calls = calls, .ranks = ranks};
          // What isn't there, and what would come twice.
          if (point.reduces() && is_bitwise(op) && is_float(dtype)) continue;
          if (!point.reduces() && op != settings.ops.front()) continue;
          if (point.is_barrier() && dtype != settings.dtypes.front()) continue;
          tables.push_back(point);
        }
      }
    }
  }
  return tables;
}

std::string title_of(const Point& point) {
  std::string title = name(point.kind);
  if (!point.is_barrier()) title += fmt::format(" {}", name(point.dtype));
  if (point.reduces()) title += fmt::format(" {}", name(point.op));
  if (point.calls == Calls::asynchronous) title += ", async";
  return title + fmt::format(", {} ranks", point.ranks);
}

class CollectiveRun {
 public:
  explicit CollectiveRun(const Settings& settings)
      : settings_(settings), campaign_settings_(campaign_settings(settings)) {}

  void run() {
    for (const int ranks : settings_.ranks) {
      Campaign campaign(ranks, campaign_settings_);
      for (const Point& table : tables_of(settings_, ranks)) run_table(campaign, table);
    }
  }

  void write_files() const { write_result_files(settings_, results_); }

 private:
  void run_table(Campaign& campaign, Point point) {
    std::cout << "\n" << title_of(point) << "; us per operation\n" << std::flush;
    bool is_first = true;
    for (const std::size_t size : settings_.sizes) {
      point.bytes = size;
      results_.push_back(campaign.measure(point, memories_for(point)));
      if (is_first) std::cout << limits_line(results_.back().limits);
      if (is_first) std::cout << table_head(results_.back());
      std::cout << table_row(results_.back()) << std::flush;
      is_first = false;
      if (point.is_barrier()) break;
    }
  }

  // Those of the settings that the collective knows; private memory if that's none.
  std::vector<Memory> memories_for(const Point& point) const {
    std::vector<Memory> memories = settings_.memories;
    std::erase_if(memories, [&](Memory memory) { return !point.can_lie_in(memory); });
    return memories.empty() ? std::vector<Memory>{Memory::own} : memories;
  }

  const Settings& settings_;
  CampaignSettings campaign_settings_;
  std::vector<PointResult> results_;
};

}  // namespace

std::string peer_folder() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "peers").string();
}

CampaignSettings campaign_settings(const Settings& settings) {
  CampaignSettings campaign{.repeats = settings.repeats,
                            .samples = settings.iterations,
                            .budget_s = settings.time_ms / 1000.0,
                            .start = settings.start,
                            .peers = settings.peers,
                            .peer_folder = peer_folder(),
                            .bytes_most = std::ranges::max(settings.sizes),
                            .interleaving = {.tries_max = settings.tries}};
  if (settings.peers_are_found) {
    for (const std::string& peer : peer_names()) {
      const std::string missing = missing_of(peer, campaign.peer_folder);
      if (missing.empty()) campaign.peers.push_back(peer);
      if (!missing.empty()) std::cerr << "tpbench: without " << missing << std::endl;
    }
  }
  return campaign;
}

void write_result_files(const Settings& settings, std::span<const PointResult> results) {
  if (!settings.csv_path.empty()) train::write_atomically(settings.csv_path, to_csv(results));
  if (!settings.json_path.empty()) train::write_atomically(settings.json_path, to_json(results));
  if (!settings.svg_path.empty()) train::write_atomically(settings.svg_path, plots_of(results));
}

int run_collectives(const Settings& settings) {
  CollectiveRun run(settings);
  run.run();
  run.write_files();
  return 0;
}

}  // namespace tensorplay::tpbench
