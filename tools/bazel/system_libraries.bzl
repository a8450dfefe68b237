"""The distribution's libraries as targets of one repository: @system_libs//:hwloc and so on.

Their headers lie where the compiler looks by itself, so no -isystem is passed (-isystem
/usr/include would break the #include_next of libstdc++). A target whose library isn't installed
fails when it is built, naming the package, and the targets that don't need it build on.
"""

# name: (header to probe, package of the distribution, linkopts)
_LIBRARIES = {
    "boost_interprocess": (
        "boost/interprocess/shared_memory_object.hpp",
        "libboost-dev",
        ["-lrt", "-pthread"],
    ),
    "boost_test": (
        "boost/test/unit_test.hpp",
        "libboost-test-dev",
        ["-lboost_unit_test_framework"],
    ),
    "cli11": ("CLI/CLI.hpp", "libcli11-dev", []),
    "fmt": ("fmt/core.h", "libfmt-dev", ["-lfmt"]),
    "gloo": ("gloo/context.h", "libgloo-dev", ["-lgloo", "-pthread"]),
    "highway": ("hwy/highway.h", "libhwy-dev", ["-lhwy"]),
    "hwloc": ("hwloc.h", "libhwloc-dev", ["-lhwloc"]),
    "nlohmann_json": ("nlohmann/json.hpp", "nlohmann-json3-dev", []),
}

# Eigen alone lies in a folder of its own, which users don't spell in their includes.
_EIGEN_FOLDERS = ["/usr/include/eigen3", "/usr/local/include/eigen3"]
_EIGEN_PROBE = "eigen3/Eigen/Core"
_EIGEN_PACKAGE = "libeigen3-dev"

# Installed for the benchmark's peers only.
_GLOO = "gloo"

# The same, and Debian has both, in folders and under names that tell them apart.
# name: (folders of the headers, package, linkopts)
_PEERS = {
    "mpich": (
        ["/usr/include/x86_64-linux-gnu/mpich", "/usr/include/aarch64-linux-gnu/mpich"],
        "libmpich-dev",
        ["-lmpich"],
    ),
    "openmpi": (
        [
            "/usr/lib/x86_64-linux-gnu/openmpi/include",
            "/usr/lib/aarch64-linux-gnu/openmpi/include",
        ],
        "libopenmpi-dev",
        [
            "-L/usr/lib/x86_64-linux-gnu/openmpi/lib",
            "-L/usr/lib/aarch64-linux-gnu/openmpi/lib",
            "-lmpi",
        ],
    ),
}

_HEAD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

# The probe is a header of the target, so it is built before anything that includes the library is.
# It asks the compiler, which knows its own include path, and it is asked again as long as it fails.
_PROBE = """
genrule(
    name = "{name}_installed",
    outs = ["probe/{name}_installed.h"],
    cmd = "printf '#if !__has_include(<{header}>)\\n#error\\n#endif\\n'" +
          " | $(CC) -x c++ -E - >/dev/null 2>&1 && touch $@" +
          " || {{ echo 'The header <{header}> is missing: run {setup}," +
          " or install the package {package}.' >&2; exit 1; }}",
    toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
    visibility = ["//visibility:private"],
)
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    hdrs = ["probe/{name}_installed.h"],
    linkopts = {linkopts},
)
"""

_EIGEN = """
cc_library(
    name = "eigen",
    hdrs = ["probe/eigen_installed.h"] + glob(["eigen3/Eigen/**"], allow_empty = True),
    includes = ["eigen3"],
)
"""

_PEER = """
cc_library(
    name = "{name}",
    hdrs = glob(["{name}/**/*.h"]),
    includes = ["{name}"],
    linkopts = {linkopts},
)
"""

_MISSING_PEER = """
genrule(
    name = "{name}_missing",
    outs = ["{name}_missing.h"],
    cmd = "echo '{name} is missing: run tools/setup --peers," +
          " or install the package {package}.' >&2; exit 1",
    visibility = ["//visibility:private"],
)

cc_library(
    name = "{name}",
    hdrs = ["{name}_missing.h"],
)
"""

def _link_first(repository_ctx, folders, name):
    """Links the first of the folders that exists; gives whether there is one."""
    for folder in folders:
        if repository_ctx.path(folder).exists:
            repository_ctx.symlink(folder, name)
            return True
    return False

def _probe(name, header, package, setup):
    return _PROBE.format(name = name, header = header, package = package, setup = setup)

def _system_library_repository_impl(repository_ctx):
    parts = [_HEAD]
    for name, (header, package, linkopts) in _LIBRARIES.items():
        setup = "tools/setup --peers" if name == _GLOO else "tools/setup"
        parts.append(_probe(name, header, package, setup))
        parts.append(_LIBRARY.format(name = name, linkopts = repr(linkopts)))
    _link_first(repository_ctx, _EIGEN_FOLDERS, "eigen3")
    parts.append(_probe("eigen", _EIGEN_PROBE, _EIGEN_PACKAGE, "tools/setup"))
    parts.append(_EIGEN)
    for name, (folders, package, linkopts) in _PEERS.items():
        template = _PEER if _link_first(repository_ctx, folders, name) else _MISSING_PEER
        parts.append(template.format(name = name, package = package, linkopts = repr(linkopts)))
    repository_ctx.file("WORKSPACE", "", executable = False)
    repository_ctx.file("BUILD", "".join(parts), executable = False)

# local: evaluated again with every server, so that what was installed meanwhile is seen.
system_library_repository = repository_rule(
    implementation = _system_library_repository_impl,
    local = True,
)
