// Examples from a file of comma-separated values.
#pragma once

#include "tools/train/examples.h"

#include <filesystem>
#include <istream>
#include <string>

namespace tensorplay::train {

// A class is below this: it sets the number of the network's outputs, and a stray number in the
// last column must not ask for gigabytes.
inline constexpr int kClassCountMax = 65536;

// Reads the form that digits.csv has: no header line; in each row the same number of fields, two at
// least; all of them finite numbers, the last one a class 0, 1, 2... Lines may end in CR LF, blanks
// around fields and empty lines at the end don't count, nor does a byte order mark at the start.
//
// Throws InvalidArgument "file:line: what is wrong" for the first row that isn't so, and for a file
// that can't be read or has no rows.
Examples read_csv_file(const std::filesystem::path& path);

// The same from a stream that `name` stands for in messages.
Examples read_csv(std::istream& stream, const std::string& name);

}  // namespace tensorplay::train
