// What the tree is held to. Each check looks at one file, or at all, and gives what it found.
#pragma once

#include "tests/tidy/finding.h"
#include "tests/tidy/source_file.h"

#include <string>
#include <vector>

namespace tensorplay::tidy {

// Layers: who may include whom, and how.
Findings check_includes(const SourceFile& file);

// Sizes: at most 400 lines, 100 columns, 70 lines of a function.
Findings check_sizes(const SourceFile& file);
Findings check_functions(const SourceFile& file);

// Blanks, tabs and the end of the file; headers' first lines; names; reminders; words and paths
// that don't belong to the project.
Findings check_blanks(const SourceFile& file);
Findings check_header(const SourceFile& file);
Findings check_name(const SourceFile& file);
Findings check_words(const SourceFile& file);
Findings check_top_level(const std::vector<SourceFile>& files);

// Memory orders: each with its argument beside it, none left to the default, and each acquire with
// its release.
Findings check_orders(const SourceFile& file);
Findings check_default_orders(const SourceFile& file);
Findings check_sync_tags(const std::vector<SourceFile>& files);

}  // namespace tensorplay::tidy
