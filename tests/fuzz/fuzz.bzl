"""libFuzzer programs: clang's only, so they are built when asked for, with --config=fuzz."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def tp_fuzz_test(name, tags = [], **kwargs):
    """A libFuzzer program, and a test: without arguments it runs for 20 seconds.

    Args:
      name: of the program.
      tags: added to "manual", which keeps it out of //... where the compiler has no libFuzzer.
      **kwargs: as for cc_test.
    """
    cc_test(
        name = name,
        size = "medium",
        copts = ["-std=c++20"],
        linkopts = ["-fsanitize=fuzzer"],
        linkstatic = True,
        tags = tags + ["manual"],
        **kwargs
    )
