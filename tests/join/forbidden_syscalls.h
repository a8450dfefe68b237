// Makes system calls deadly, to show that some code makes none.
#pragma once

namespace tensorplay::join_tests {

// From here on, any system call of this thread but the one that ends the process raises SIGSYS.
// There is no way back. False if the kernel refuses to do that.
bool forbid_system_calls();

}  // namespace tensorplay::join_tests
