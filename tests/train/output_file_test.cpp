#include "tools/train/output_file.h"

#include "tests/train/temporary_folder.h"
#include "tests/train/thrown_message.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>

namespace tensorplay::train {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

BOOST_AUTO_TEST_SUITE(output_file)

BOOST_AUTO_TEST_CASE(a_file_is_written_whole_and_nothing_else_is_left) {
  const TemporaryFolder folder;
  write_atomically(folder / "a", "first");
  write_atomically(folder / "a", "second");
  BOOST_TEST(content(folder / "a") == "second");
  BOOST_TEST(folder.entry_count() == 1);
}

BOOST_AUTO_TEST_CASE(trying_leaves_no_trace) {
  const TemporaryFolder folder;
  require_writable(folder / "a", "--out");
  BOOST_TEST(folder.entry_count() == 0);
  write_atomically(folder / "a", "kept");
  require_writable(folder / "a", "--out");
  BOOST_TEST(content(folder / "a") == "kept");
  BOOST_TEST(folder.entry_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_missing_or_closed_is_told) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "no" / "a").string();
  BOOST_TEST(thrown_message([&] { require_writable(missing, "--out"); }) ==
             "--out '" + missing +
                 "' can't be written (No such file or directory); choose a file "
                 "in a folder that exists and is yours to write");
  BOOST_TEST(thrown_message([&] { write_atomically(missing, "x"); }) ==
             "'" + missing + "' couldn't be written: No such file or directory");
  BOOST_TEST(thrown_message([] {
               require_writable("/proc/a", "--out");
             }).starts_with("--out '/proc/a' can't be written ("));
}

BOOST_AUTO_TEST_CASE(a_directory_is_no_file) {
  const TemporaryFolder folder;
  const std::string path = (folder / "").string();
  BOOST_TEST(thrown_message([&] { require_writable(path, "--plot"); }) ==
             "--plot '" + path + "' is a directory; give the name of a file");
  BOOST_TEST(thrown_message([&] { write_atomically(folder / ".", "x"); }).starts_with("'"));
  BOOST_TEST(folder.entry_count() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
