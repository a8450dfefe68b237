#include "tools/tpbench/figures.h"

#include <fmt/core.h>
#include <algorithm>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;

constexpr std::size_t kKibi = 1024, kMebi = kKibi * kKibi;

class Judge {
 public:
  explicit Judge(const PointResult& result) : result_(result), point_(result.point) {}

  std::vector<Figure> run() {
    if (point_.ranks == 2) {
      if (point_.kind == CollectiveKind::all_reduce) {
        two_ranks_all_reduce();
      } else {
        faster("private", 1, true);
      }
    } else if (point_.kind == CollectiveKind::all_reduce || point_.is_barrier()) {
      faster("private", 1.5, false);
      tail();
    }
    return std::move(figures_);
  }

 private:
  void two_ranks_all_reduce() {
    const std::size_t bytes = point_.whole_bytes();
    if (bytes == 4) {
      lines(3);
      faster("private", 6, false);
    } else if (bytes == kKibi) {
      faster("private", 3, false);
    } else if (bytes >= 16 * kKibi && bytes <= kMebi) {
      faster("private", 2, false);
      faster("allocated", 4, false);
    } else if (bytes >= 16 * kMebi) {
      faster("private", 1, true);
      faster("shared", 2, false);
      copies("shared", 0.8);
    }
  }

  // How many times as fast as the peer.
  void faster(const char* memory, double wanted, bool is_strict) {
    const ContestantResult* ours = result_.find(memory);
    const ContestantResult* peer = result_.best_peer();
    if (ours == nullptr || peer == nullptr) return;
    const double speedup = result_.speedup(*ours, *peer);
    add(memory, is_strict ? "faster than the peer" : fmt::format(">= {}x the peer", wanted),
        fmt::format("{:.2f}x {}", speedup, peer->name),
        is_strict ? speedup > wanted : speedup >= wanted);
  }

  void lines(double wanted) {
    const ContestantResult* ours = result_.find("private");
    if (ours == nullptr) return;
    const double lines = ours->typical().median / result_.limits.line;
    add("private", fmt::format("<= {} line transfers", wanted), fmt::format("{:.2f}", lines),
        lines <= wanted);
  }

  // Of W ranks that reduce blocks of s bytes into one result, each reads and writes (W + 1) s / W
  // bytes. The limit is of W copies of s bytes, 2 s for each: as many bytes take that much less.
  void copies(const char* memory, double wanted) {
    const ContestantResult* ours = result_.find(memory);
    if (ours == nullptr) return;
    const double moved = (point_.ranks + 1.0) / (2.0 * point_.ranks);
    const double share = result_.limits.copy * moved / ours->typical().median;
    add(memory, fmt::format(">= {} of memcpy, same bytes", wanted), fmt::format("{:.2f}", share),
        share >= wanted);
  }

  void tail() {
    const ContestantResult* ours = result_.find("private");
    if (ours == nullptr) return;
    const Summary typical = ours->typical();
    const double ratio = typical.p99 / typical.median;
    add("private", "p99 < 10x the median", fmt::format("{:.1f}x", ratio), ratio < 10);
  }

  void add(const std::string& memory, std::string wanted, std::string measured, bool is_reached) {
    std::string what = to_string(point_);
    if (!point_.is_barrier()) what += ", " + memory;
    figures_.push_back({std::move(what), std::move(wanted), std::move(measured), is_reached});
  }

  const PointResult& result_;
  const Point& point_;
  std::vector<Figure> figures_;
};

struct JoinLimit {
  const char* what;
  double most;
};

constexpr JoinLimit kJoinLimits[] = {
    {join_figure::kNotify, 10},           {join_figure::kAgreeToLine, 3},
    {join_figure::kActiveRatio, 1.05},    {join_figure::kActiveRatioLarge, 1.05},
    {join_figure::kTrainingRatio, 1.005}, {join_figure::kStart, 10},
    {join_figure::kSegment, 16 * 1024},
};

}  // namespace

std::vector<Figure> judge_points(std::span<const PointResult> results) {
  std::vector<Figure> figures;
  for (const PointResult& result : results) {
    const auto found = Judge(result).run();
    figures.insert(figures.end(), found.begin(), found.end());
  }
  return figures;
}

std::vector<Figure> judge_types(const PointResult& result) {
  constexpr double kShare = 0.8;
  std::vector<Figure> figures;
  const ContestantResult* reference = result.find(name(DType::float32));
  if (reference == nullptr) return figures;
  for (const ContestantResult& type : result.contestants) {
    if (&type == reference) continue;
    // As many bytes each: the times' ratio is the throughputs'.
    const double share = result.speedup(type, *reference);
    figures.push_back({fmt::format("all_reduce {} sum, {} ranks, {}", type.name, result.point.ranks,
                                   bytes_text(result.point.bytes)),
                       fmt::format(">= {} of float32's bytes/s", kShare),
                       fmt::format("{:.2f}", share), share >= kShare});
  }
  return figures;
}

std::vector<Figure> judge_join(std::span<const JoinFigure> measured) {
  std::vector<Figure> figures;
  for (const JoinLimit& limit : kJoinLimits) {
    const auto found = std::ranges::find(measured, limit.what, &JoinFigure::what);
    if (found == measured.end()) continue;
    const double value = median(found->repeats);
    figures.push_back({limit.what, fmt::format("<= {} {}", limit.most, found->unit),
                       fmt::format("{:.4g} {}", value, found->unit), value <= limit.most});
  }
  return figures;
}

std::string verdict(std::span<const Figure> figures) {
  std::string text;
  for (const Figure& figure : figures) {
    text += fmt::format("{:<11}  {:<56} {:<30} {}\n", figure.is_reached ? "reached" : "NOT REACHED",
                        figure.what, figure.wanted, figure.measured);
  }
  const auto reached = std::ranges::count(figures, true, &Figure::is_reached);
  return text + fmt::format("{} of {} reached\n", reached, figures.size());
}

}  // namespace tensorplay::tpbench
