#include "tools/train/csv_file.h"

#include "tests/train/thrown_message.h"

#include <boost/test/unit_test.hpp>
#include <sstream>

namespace tensorplay::train {
namespace {

Examples parsed(const std::string& text) {
  std::istringstream stream(text);
  return read_csv(stream, "d.csv");
}

std::string rejection(const std::string& text) {
  return thrown_message([&] { parsed(text); });
}

BOOST_AUTO_TEST_SUITE(csv_file)

BOOST_AUTO_TEST_CASE(the_last_field_is_the_class_and_the_others_are_inputs) {
  const Examples examples = parsed("0,5.5,-1e2,3\n1,2,3,0\n");
  BOOST_TEST(examples.count() == 2u);
  BOOST_TEST(examples.inputs.rows() == 2);
  BOOST_TEST(examples.inputs.cols() == 3);
  BOOST_TEST(examples.inputs(0, 1) == 5.5f);
  BOOST_TEST(examples.inputs(0, 2) == -100.0f);
  BOOST_TEST(examples.inputs(1, 2) == 3.0f);
  BOOST_TEST(examples.classes[0] == 3);
  BOOST_TEST(examples.classes[1] == 0);
}

BOOST_AUTO_TEST_CASE(one_input_is_enough) {
  BOOST_TEST(parsed("7,1").inputs(0, 0) == 7.0f);
}

BOOST_AUTO_TEST_CASE(ends_of_lines_from_elsewhere_and_blanks_make_no_difference) {
  const Examples plain = parsed("1,2,0\n3,4,1\n");
  for (const char* text :
       {"1,2,0\r\n3,4,1\r\n", "1,2,0\n3,4,1", "1,2,0\n3,4,1\n\n\r\n", " 1 ,\t2, 0\n3,4 ,1 \n",
        "\xef\xbb\xbf"
        "1,2,0\n3,4,1\n"}) {
    const Examples same = parsed(text);
    BOOST_TEST((same.inputs == plain.inputs));
    BOOST_TEST(same.classes == plain.classes);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_file_is_told) {
  for (const char* text : {"", "\n", "\r\n\n"}) {
    BOOST_TEST(rejection(text) ==
               "d.csv: the file has no rows; rows of numbers are wanted, the class last");
  }
}

BOOST_AUTO_TEST_CASE(a_row_of_another_length_is_told_with_its_line) {
  BOOST_TEST(rejection("1,2,0\n1,0\n") == "d.csv:2: 2 fields, but the rows before have 3");
  BOOST_TEST(rejection("1,2,0\n1,2,3,0\n") == "d.csv:2: 4 fields, but the rows before have 3");
  BOOST_TEST(rejection("1,2,0\n1\n") == "d.csv:2: 1 field, but the rows before have 3");
  BOOST_TEST(rejection("1\n") ==
             "d.csv:1: one field only; a row has its inputs, then its class, divided by commas");
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_told_with_its_field) {
  BOOST_TEST(rejection("1,2,0\n1,two,0\n") == "d.csv:2: field 2 is 'two', not a number");
  BOOST_TEST(rejection("1,2,0\n,2,0\n") == "d.csv:2: field 1 is '', not a number");
  BOOST_TEST(rejection("1,2,0\n1x,2,0\n") == "d.csv:2: field 1 is '1x', not a number");
  BOOST_TEST(rejection("1,2,0\n1,0x10,0\n") == "d.csv:2: field 2 is '0x10', not a number");
}

BOOST_AUTO_TEST_CASE(a_header_line_is_recognised) {
  BOOST_TEST(rejection("a,b,class\n1,2,0\n") ==
             "d.csv:1: field 1 is 'a', not a number; if this is a header line, remove it");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_told) {
  for (const char* field : {"nan", "NaN", "inf", "-inf", "1e99"}) {
    BOOST_TEST(rejection(std::string("1,2,0\n1,") + field + ",0\n") ==
               std::string("d.csv:2: field 2 is '") + field +
                   "', not a finite number that a float can hold");
  }
}

BOOST_AUTO_TEST_CASE(a_class_that_is_none_is_told) {
  BOOST_TEST(rejection("1,0\n1,-1\n") == "d.csv:2: the class is '-1'; classes are 0 to 65535");
  BOOST_TEST(rejection("1,0\n1,65536\n") ==
             "d.csv:2: the class is '65536'; classes are 0 to 65535");
  BOOST_TEST(rejection("1,0\n1,99999999999999999999\n") ==
             "d.csv:2: the class is '99999999999999999999'; classes are 0 to 65535");
  for (const char* text : {"1.5", "3.0", "cat", "nan", ""}) {
    BOOST_TEST(rejection(std::string("1,0\n1,") + text) ==
               std::string("d.csv:2: the class is '") + text + "', not a whole number");
  }
}

BOOST_AUTO_TEST_CASE(an_empty_line_between_rows_is_told) {
  BOOST_TEST(rejection("1,0\n\n\n1,0\n") == "d.csv:2: the line is empty; only the end may be");
}

BOOST_AUTO_TEST_CASE(a_message_is_short_and_printable_whatever_the_file_holds) {
  const std::string message =
      rejection(std::string("1,0\n\x1b[2J\0\xff,", 11) + std::string(5000, 'x'));
  BOOST_TEST(message ==
             "d.csv:2: field 1 is '?[2J?"
             "?', not a number");
  BOOST_TEST(rejection(std::string(5000, 'x') + ",0").size() < 120u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_told) {
  BOOST_TEST(
      thrown_message([] { read_csv_file("no/such.csv"); }) ==
      "no/such.csv: No such file or directory; --data wants a file of comma-separated values");
  BOOST_TEST(thrown_message([] { read_csv_file("/"); }) == "/: a directory; --data wants a file");
}

BOOST_AUTO_TEST_CASE(the_digits_are_read_whole) {
  const Examples digits = read_csv_file("tools/train/data/digits.csv");
  BOOST_TEST(digits.count() == 1797u);
  BOOST_TEST(digits.inputs.cols() == 64);
  BOOST_TEST(digits.inputs.maxCoeff() == 16.0f);
  BOOST_TEST(digits.inputs.minCoeff() == 0.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
