#include "tools/train/csv_file.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>

namespace tensorplay::train {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kShownMax = 24;  // bytes of a field

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A field as messages show it: short, and without what would upset a terminal.
std::string shown(std::string_view field) {
  std::string text(field.substr(0, kShownMax));
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return "'" + text + (field.size() > kShownMax ? "...'" : "'");
}

// The rows of one stream, checked one by one.
class CsvReader {
 public:
  explicit CsvReader(std::string name) : name_(std::move(name)) {}

  void read(std::istream& stream) {
    std::string text;
    while (std::getline(stream, text)) {
      std::string_view line = text;
      if (++line_number_ == 1 && line.starts_with(kByteOrderMark)) {
        line.remove_prefix(kByteOrderMark.size());
      }
      read_line(trimmed(line));
    }
  }

  Examples take() {
    if (classes_.empty()) {
      throw InvalidArgument(name_ +
                            ": the file has no rows; rows of numbers are wanted, the class last");
    }
    const auto rows = static_cast<Eigen::Index>(classes_.size());
    Examples examples;
    examples.inputs =
        Eigen::Map<const Matrix>(inputs_.data(), rows, static_cast<Eigen::Index>(field_count_ - 1));
    examples.classes = std::move(classes_);
    return examples;
  }

 private:
  [[noreturn]] void reject(std::size_t line, const std::string& problem) const {
    throw InvalidArgument(fmt::format("{}:{}: {}", name_, line, problem));
  }
  [[noreturn]] void reject(const std::string& problem) const { reject(line_number_, problem); }

  void read_line(std::string_view line) {
    if (line.empty()) {
      if (empty_line_ == 0) empty_line_ = line_number_;
      return;
    }
    if (empty_line_ != 0) reject(empty_line_, "the line is empty; only the end may be");
    split(line);
    check_field_count();
    for (std::size_t i = 0; i + 1 < fields_.size(); ++i) inputs_.push_back(number(i));
    classes_.push_back(class_number());
  }

  void split(std::string_view line) {
    fields_.clear();
    for (std::size_t comma = line.find(','); comma != std::string_view::npos;
         comma = line.find(',')) {
      fields_.push_back(trimmed(line.substr(0, comma)));
      line.remove_prefix(comma + 1);
    }
    fields_.push_back(trimmed(line));
  }

  void check_field_count() {
    if (classes_.empty()) {
      if (fields_.size() < 2) {
        reject("one field only; a row has its inputs, then its class, divided by commas");
      }
      field_count_ = fields_.size();
    } else if (fields_.size() != field_count_) {
      reject(fmt::format("{} field{}, but the rows before have {}", fields_.size(),
                         fields_.size() == 1 ? "" : "s", field_count_));
    }
  }

  float number(std::size_t index) const {
    const std::string_view field = fields_[index];
    float value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size() || error == std::errc::invalid_argument) {
      const char* hint = classes_.empty() ? "; if this is a header line, remove it" : "";
      reject(fmt::format("field {} is {}, not a number{}", index + 1, shown(field), hint));
    }
    if (error != std::errc{} || !std::isfinite(value)) {
      reject(fmt::format("field {} is {}, not a finite number that a float can hold", index + 1,
                         shown(field)));
    }
    return value;
  }

  int class_number() const {
    const std::string_view field = fields_.back();
    int value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size() || error == std::errc::invalid_argument) {
      reject(fmt::format("the class is {}, not a whole number", shown(field)));
    }
    if (error != std::errc{} || value < 0 || value >= kClassCountMax) {
      reject(fmt::format("the class is {}; classes are 0 to {}", shown(field), kClassCountMax - 1));
    }
    return value;
  }

  std::string name_;
  std::size_t line_number_ = 0;
  std::size_t empty_line_ = 0;            // the first of the empty lines just read, 0: none
  std::size_t field_count_ = 0;           // of each row, the class included
  std::vector<std::string_view> fields_;  // of the line being read
  std::vector<float> inputs_;
  std::vector<int> classes_;
};

}  // namespace

Examples read_csv(std::istream& stream, const std::string& name) {
  CsvReader reader(name);
  reader.read(stream);
  if (stream.bad()) throw InvalidArgument(name + ": reading failed: " + std::strerror(errno));
  return reader.take();
}

Examples read_csv_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InvalidArgument(path.string() + ": a directory; --data wants a file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw InvalidArgument(fmt::format("{}: {}; --data wants a file of comma-separated values",
                                      path.string(), std::strerror(errno)));
  }
  return read_csv(stream, path.string());
}

}  // namespace tensorplay::train
