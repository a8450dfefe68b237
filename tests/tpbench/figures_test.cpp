// What is promised, judged by results that were made up.

#include "tools/tpbench/figures.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;

// Microseconds: ours, the peer's, a line.
PointResult point(CollectiveKind kind, int ranks, std::size_t bytes, double ours, double peer) {
  const auto summary = [](double us) {
    return Summary{us * 1e-6, us * 1e-6, us * 2e-6, us * 4e-6};
  };
  PointResult result;
  result.point = {.kind = kind, .ranks = ranks, .bytes = bytes};
  result.usable_cpus = 2;
  result.limits.line = 0.1e-6;
  result.limits.copy = 50e-6;
  result.limits.yield_switch = 1e-6;
  result.contestants.push_back({"private", true, {summary(ours)}});
  result.contestants.push_back({"allocated", true, {summary(ours / 2)}});
  result.contestants.push_back({"shared", true, {summary(ours / 4)}});
  if (peer > 0) {
    result.contestants.push_back({"mpich", false, {summary(peer * 3)}});
    result.contestants.push_back({"openmpi", false, {summary(peer)}});
  }
  return result;
}

std::vector<Figure> judged(const PointResult& result) {
  return judge_points({&result, 1});
}

BOOST_AUTO_TEST_SUITE(figures)

BOOST_AUTO_TEST_CASE(four_bytes_are_judged_by_lines_and_by_the_best_peer) {
  const auto good = judged(point(CollectiveKind::all_reduce, 2, 4, 0.3, 1.8));
  BOOST_REQUIRE(good.size() == 2u);
  BOOST_TEST(good[0].measured == "3.00");
  BOOST_TEST(good[1].measured == "6.00x openmpi");
  const auto bad = judged(point(CollectiveKind::all_reduce, 2, 4, 0.31, 1.8));
  BOOST_TEST(!bad[0].is_reached);
  BOOST_TEST(!bad[1].is_reached);
}

BOOST_AUTO_TEST_CASE(gloo_is_not_what_anything_is_judged_by) {
  PointResult result = point(CollectiveKind::all_reduce, 2, 4, 0.3, 1.8);
  result.contestants.push_back({kGloo, false, {{1e-9, 1e-9, 1e-9, 1e-9}}});
  BOOST_TEST(judged(result)[1].measured == "6.00x openmpi");
}

BOOST_AUTO_TEST_CASE(between_16_kib_and_1_mib_both_memories_have_their_figure) {
  const auto found = judged(point(CollectiveKind::all_reduce, 2, std::size_t{64} << 10, 10, 20.1));
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].is_reached);
  BOOST_TEST(found[1].is_reached);
  BOOST_TEST(found[1].what == "all_reduce float32 sum, 2 ranks, 64 KiB, allocated");
}

// Three quarters of the bytes that two ranks copy in 50 us.
BOOST_AUTO_TEST_CASE(large_ones_are_judged_by_copies_of_as_many_bytes_too) {
  const auto found = judged(point(CollectiveKind::all_reduce, 2, std::size_t{16} << 20, 100, 101));
  BOOST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].is_reached);
  BOOST_TEST(found[1].measured == "4.04x openmpi");
  BOOST_TEST(found[2].what == "all_reduce float32 sum, 2 ranks, 16 MiB, shared");
  BOOST_TEST(found[2].measured == "1.50");
  BOOST_TEST(found[2].is_reached);
  const auto slow = judged(point(CollectiveKind::all_reduce, 2, std::size_t{16} << 20, 200, 399));
  BOOST_TEST(!slow[2].is_reached);
}

BOOST_AUTO_TEST_CASE(other_collectives_have_to_be_faster_at_every_size) {
  BOOST_TEST(judged(point(CollectiveKind::broadcast, 2, 256, 1, 1.01))[0].is_reached);
  BOOST_TEST(!judged(point(CollectiveKind::all_gather, 2, 256, 1, 1))[0].is_reached);
}

BOOST_AUTO_TEST_CASE(more_ranks_than_cpus_are_judged_by_their_tail_too) {
  auto result = point(CollectiveKind::all_reduce, 8, 256, 1, 1.6);
  BOOST_TEST(judged(result).size() == 2u);
  BOOST_TEST(judged(result)[0].is_reached);
  BOOST_TEST(judged(result)[1].is_reached);
  result.contestants[0].repeats[0].p99 = 11e-6;
  BOOST_TEST(!judged(result)[1].is_reached);
}

BOOST_AUTO_TEST_CASE(without_peers_what_needs_them_is_left_out) {
  BOOST_TEST(judged(point(CollectiveKind::all_reduce, 2, 4, 0.3, 0)).size() == 1u);
  BOOST_TEST(judged(point(CollectiveKind::broadcast, 2, 4, 0.3, 0)).empty());
}

BOOST_AUTO_TEST_CASE(types_are_judged_by_their_bytes_per_second) {
  PointResult result;
  result.contestants.push_back({"float32", true, {{8, 8, 8, 8}}});
  result.contestants.push_back({"bfloat16", true, {{10, 10, 10, 10}}});
  result.contestants.push_back({"float16", true, {{11, 11, 11, 11}}});
  const auto found = judge_types(result);
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].is_reached);
  BOOST_TEST(!found[1].is_reached);
}

BOOST_AUTO_TEST_CASE(the_yardstick_is_a_line_a_copy_or_the_switches_that_ranks_need) {
  BOOST_TEST(point(CollectiveKind::all_reduce, 2, 4, 1, 0).yardstick() == 50e-6);
  auto result = point(CollectiveKind::barrier, 8, 0, 1, 0);
  result.limits.copy = 0;
  BOOST_TEST(result.yardstick() == 4e-6);
  result.point.ranks = 2;
  BOOST_TEST(result.yardstick() == 0.1e-6);
}

BOOST_AUTO_TEST_CASE(the_verdict_counts_what_is_reached) {
  const std::vector<JoinFigure> measured = {{join_figure::kNotify, "ns", {9, 30, 10}, {}},
                                            {join_figure::kTrainingRatio, "x", {1.006}, {}}};
  const auto found = judge_join(measured);
  const std::string text = verdict(found);
  BOOST_TEST(text.starts_with("reached      notification"), text);
  BOOST_TEST(text.find("\nNOT REACHED  DDP iteration") != std::string::npos, text);
  BOOST_TEST(text.ends_with("1 of 2 reached\n"), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
