// tpbench as people start it, quickly: what it tells, not how fast anything is.

#include "tests/train/shell_command.h"
#include "tests/train/temporary_folder.h"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tensorplay::tpbench {
namespace {

namespace data = boost::unit_test::data;
using train::Outcome;
using train::run_shell;
using train::TemporaryFolder;

const std::string kQuick =
    "tools/tpbench/tpbench --peers none --repeats 1 --iterations few --tries 1 ";

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::json report_of(const std::string& options) {
  const TemporaryFolder folder;
  const auto path = folder / "report.json";
  const Outcome outcome = run_shell(kQuick + options + " --json " + path.string());
  BOOST_REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.error);
  return nlohmann::json::parse(content(path));
}

void expect_positive(const nlohmann::json& numbers) {
  for (const auto& [key, value] : numbers.items()) BOOST_TEST(value.get<double>() > 0, key);
}

// Gives the name of the point's collective.
std::string expect_sound(const nlohmann::json& point, int ranks) {
  BOOST_TEST(point["ranks"] == ranks);
  BOOST_TEST(point["limits"]["line"].get<double>() > 0);
  BOOST_TEST(point["yardstick"].get<double>() > 0);
  const bool is_barrier = point["collective"] == "barrier";
  if (!is_barrier) expect_positive(point["limits"]);
  const bool can_share = point["collective"] == "all_reduce";
  BOOST_TEST(point["contestants"].size() == (is_barrier ? 1u : can_share ? 3u : 2u));
  for (const auto& contestant : point["contestants"]) {
    expect_positive(contestant["typical"]);
    BOOST_TEST(contestant["is_ours"] == true);
    BOOST_TEST(contestant["medians"].size() == 1u);
  }
  return point["collective"].get<std::string>();
}

BOOST_AUTO_TEST_SUITE(tpbench_program)

// Every result is compared with a serial one by the program itself.
BOOST_DATA_TEST_CASE(every_collective_is_measured_and_right, data::make({2, 3}), ranks) {
  const auto report =
      report_of("--collectives all --sizes 4,3Ki,40Ki --ranks " + std::to_string(ranks));
  BOOST_TEST(report["points"].size() == 8u * 3u + 1u);  // a barrier has no size
  std::set<std::string> kinds;
  for (const nlohmann::json& point : report["points"]) {
    kinds.insert(expect_sound(point, ranks));
  }
  BOOST_TEST(kinds.size() == 9u);
}

BOOST_AUTO_TEST_CASE(every_type_and_reduction_is_measured_and_right) {
  const auto report =
      report_of("--dtypes all --ops all --sizes 64,20Ki --ranks 2 --memory private");
  // Bitwise reductions are for the eight integers only.
  BOOST_TEST(report["points"].size() == 2u * (8u * 8u + 4u * 5u));
}

BOOST_AUTO_TEST_CASE(asynchronous_calls_are_measured_too) {
  const auto report = report_of("--calls sync,async --sizes 4,40Ki --memory allocated,shared");
  BOOST_TEST(report["points"].size() == 4u);
  BOOST_TEST(report["points"][3]["calls"] == "async");
  BOOST_TEST(report["points"][3]["contestants"][0]["name"] == "allocated");
  BOOST_TEST(report["points"][3]["contestants"][1]["name"] == "shared");
}

BOOST_AUTO_TEST_CASE(the_table_the_csv_and_the_plot_tell_of_each_point) {
  const TemporaryFolder folder;
  const auto csv = folder / "points.csv", svg = folder / "points.svg";
  const Outcome outcome =
      run_shell(kQuick + "--sizes 4,1Ki --csv " + csv.string() + " --svg " + svg.string());
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
  BOOST_TEST(outcome.output.find("all_reduce float32 sum, 2 ranks") != std::string::npos);
  BOOST_TEST(outcome.output.find("\n     1 KiB ") != std::string::npos, outcome.output);
  const std::string lines = content(csv);
  BOOST_TEST(std::ranges::count(lines, '\n') == 7);
  BOOST_TEST(lines.find("\nall_reduce,float32,sum,sync,2,1024,allocated,") != std::string::npos);
  BOOST_TEST(content(svg).ends_with("</svg>\n"));
  BOOST_TEST(folder.entry_count() == 2);
}

BOOST_AUTO_TEST_CASE(join_tells_what_a_context_costs) {
  const auto report = report_of("join");
  BOOST_TEST(report["join"].size() == 21u);
  for (const nlohmann::json& line : report["join"]) {
    BOOST_TEST(line["median"].get<double>() > 0, line["what"]);
    BOOST_TEST(line["repeats"].size() == 1u);
    BOOST_TEST(line["peers"].is_object());
  }
}

// How many figures are reached depends on the machine, what is judged doesn't.
BOOST_AUTO_TEST_CASE(check_judges_every_figure_that_it_can) {
  const Outcome outcome = run_shell(kQuick + "check --sizes 4,16Ki --ranks 2,3");
  BOOST_TEST((outcome.exit_code == 0 || outcome.exit_code == 1), outcome.error);
  // Without peers: lines, two types, tails of three points, seven of Join.
  BOOST_TEST(outcome.output.find(" of 13 reached\n") != std::string::npos, outcome.output);
  BOOST_TEST(std::ranges::count(outcome.output, '\n') == 14);
}

BOOST_DATA_TEST_CASE(wrong_options_are_told_in_one_line,
                     data::make({"--sizes 4:2", "--ranks 1", "--ranks 99", "--dtypes int7",
                                 "--collectives nothing", "--peers someone", "--iterations 0",
                                 "--repeats 0", "--csv same --json same", "nonsense"}),
                     options) {
  const Outcome outcome = run_shell(kQuick + options);
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST(outcome.error.starts_with("tpbench: "), outcome.error);
  BOOST_TEST(std::ranges::count(outcome.error, '\n') == 1, outcome.error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
