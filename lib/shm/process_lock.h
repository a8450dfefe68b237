// A lock on one byte of a file that tells: the process that took it lives, and still runs the same
// program.
//
// It is a POSIX record lock, for what those do and no other lock does:
//   it belongs to the process      the thread that took it may end; a forked child doesn't have it,
//                                  whatever descriptors and mappings it inherited
//   it ends with the process       and with execve(), by which the descriptor is closed
//   anybody may ask about it       from every PID namespace, without a number that could be taken
//                                  by another process meanwhile
// Its price: it also ends when its process closes any descriptor of the file. So descriptors of
// files with such locks are closed by close_descriptor(), which waits until the last lock is given
// up.
//
// All functions may be called by several threads at once.
#pragma once

#include <cstddef>

namespace tensorplay::shm {

// Takes the lock for the calling process. False if a process has it already, be it this one; also
// where the system has no such locks.
bool lock_byte(int descriptor, std::size_t offset);

// Gives up what lock_byte() took in this process; does nothing in a forked child.
void unlock_byte(int descriptor, std::size_t offset) noexcept;

// Whether any process has the lock. True also if that can't be told: an end needs a proof.
bool is_byte_locked(int descriptor, std::size_t offset) noexcept;

// Closes the descriptor, as soon as this process has no lock on its file.
void close_descriptor(int descriptor) noexcept;

}  // namespace tensorplay::shm
