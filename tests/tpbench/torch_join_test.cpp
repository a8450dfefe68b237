// PyTorch as a peer, played by a shell: what it prints, and the ways in which it can fail.

#include "tools/tpbench/torch_join.h"

#include "tests/train/temporary_folder.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>

namespace tensorplay::tpbench {
namespace {

using namespace std::chrono_literals;
using train::TemporaryFolder;

std::string line(const std::string& what, int ranks, const std::string& seconds) {
  return "{\"what\": \"" + what + "\", \"ranks\": " + std::to_string(ranks) +
         ", \"seconds\": " + seconds + "}\n";
}

std::string whole() {
  std::string text;
  for (const int ranks : {2, 4, 8}) text += line("notify", ranks, "5e-4");
  for (const std::string what : {"throw", "shadow"}) {
    for (const int ranks : {2, 4}) text += line(what, ranks, "1e-3");
  }
  for (const std::string what : {"off", "on", "uneven"}) text += line(what, 2, "2e-3");
  return text;
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

// What comes of a program that a shell runs.
TorchTimes times_of(const std::string& program, std::chrono::milliseconds patience) {
  const TemporaryFolder folder;
  std::ofstream(folder / "program") << program;
  return time_torch("sh", (folder / "program").string(), 7, patience);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(torch_join)

BOOST_AUTO_TEST_CASE(what_the_program_prints_is_read) {
  const TorchTimes times =
      times_of("[ $1 = 7 ] || exit 1\necho warning >&2\ncat <<'TEXT'\n" + whole() + "TEXT\n", 60s);
  BOOST_TEST(times.size() == 10u);
  BOOST_TEST(times.at({"notify", 8}) == 5e-4);
  BOOST_TEST(times.at({"uneven", 2}) == 2e-3);
}

BOOST_AUTO_TEST_CASE(what_is_no_result_is_told) {
  for (const std::string& wrong :
       {std::string("notify 5\n"), std::string("[]\n"), std::string("{}\n"), std::string("\n"),
        line("notify", 3, "1"), line("else", 2, "1"), line("notify", 2, "0"),
        line("notify", 2, "-1"), line("notify", 2, "NaN"), line("notify", 2, "\"1\""),
        line("notify", 2, "1e999"), line("notify", 2, "1, \"more\": 1")}) {
    const std::string message = message_of([&] { parse_torch_times(wrong); });
    BOOST_TEST(contains(message, "which isn't a result"), wrong + message);
  }
}

BOOST_AUTO_TEST_CASE(what_is_told_twice_or_never_is_an_error) {
  BOOST_TEST(contains(message_of([] { parse_torch_times(whole() + line("on", 2, "1")); }),
                      "which isn't a result"));
  BOOST_TEST(message_of([] { parse_torch_times(line("notify", 2, "1")); }) ==
             "the measuring program told no 'notify' of 4 ranks");
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_is_told_with_its_words) {
  const std::string message =
      message_of([] { times_of("echo no such interface >&2; exit 3", 60s); });
  BOOST_TEST(contains(message, "ended with exit code 3: no such interface"), message);
}

BOOST_AUTO_TEST_CASE(a_program_that_hangs_is_killed) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string message = message_of([] { times_of("exec sleep 600", 50ms); });
  BOOST_TEST(contains(message, "hadn't ended after 0.05 s and was killed"), message);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 300s));
}

BOOST_AUTO_TEST_CASE(a_program_that_is_missing_is_told) {
  const std::string message = message_of([] { time_torch("/nowhere/python3", "x", 1); });
  BOOST_TEST(contains(message, "/nowhere/python3: No such file or directory"), message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
