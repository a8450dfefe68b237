"""The external repositories of TensorPlay.

Our own WORKSPACE and the WORKSPACE of a project that uses the library call the same macro, so
nothing here may depend on which of the two is the main workspace. Debian's folders are used where
they exist; elsewhere a pinned download is.
"""

load("//tools/bazel:system_libraries.bzl", "system_library_repository")

_HOSTS = ["mirror.bazel.build/github.com/", "github.com/"]

_RULES_CC_FOLDER = "/usr/share/bazel/rules/cc"
_RULES_CC_ARCHIVE = "bazelbuild/rules_cc/releases/download/0.0.9/rules_cc-0.0.9.tar.gz"
_RULES_CC_SHA256 = "2037875b9a4456dce4a79d112a8ae885bbc4aad968e6587dca6e64f3a0900cdf"
_RULES_CC_PREFIX = "rules_cc-0.0.9"

_RULES_JAVA_FOLDER = "/usr/share/bazel/rules/java"
_RULES_JAVA_ARCHIVE = "bazelbuild/rules_java/releases/download/6.3.0/rules_java-6.3.0.tar.gz"
_RULES_JAVA_SHA256 = "29ba147c583aaf5d211686029842c5278e12aaea86f66bd4a9eb5e525b7f2701"

# Both files name a function of @bazel_tools that Bazel 4 doesn't have. What it returns is written
# out instead, which every later Bazel takes as well.
_USERS_OF_USE_CPP_TOOLCHAIN = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _urls(archive):
    return ["https://" + host + archive for host in _HOSTS]

def _link_tree(repository_ctx, folder):
    for entry in repository_ctx.path(folder).readdir():
        repository_ctx.symlink(entry, entry.basename)

def _write_out_cpp_toolchain(repository_ctx, path):
    text = repository_ctx.read(path)
    if "use_cpp_toolchain" not in text:
        return
    text = text.replace(", \"use_cpp_toolchain\"", "")
    text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
    repository_ctx.delete(path)
    repository_ctx.file(path, text, executable = False)

def _copy_tree(repository_ctx, folder):
    # A copy rather than links: files in it are rewritten, and the distribution's own must stay as
    # they are.
    copied = repository_ctx.execute(["cp", "-R", folder + "/.", "."])
    if copied.return_code != 0:
        fail("Can't copy {}: {}".format(folder, copied.stderr))

def _rules_cc_repository_impl(repository_ctx):
    if repository_ctx.path(_RULES_CC_FOLDER).exists:
        _copy_tree(repository_ctx, _RULES_CC_FOLDER)
    else:
        repository_ctx.download_and_extract(
            url = _urls(_RULES_CC_ARCHIVE),
            sha256 = _RULES_CC_SHA256,
            stripPrefix = _RULES_CC_PREFIX,
        )
    for path in _USERS_OF_USE_CPP_TOOLCHAIN:
        _write_out_cpp_toolchain(repository_ctx, path)

_rules_cc_repository = repository_rule(implementation = _rules_cc_repository_impl)

def _rules_java_repository_impl(repository_ctx):
    if repository_ctx.path(_RULES_JAVA_FOLDER).exists:
        _link_tree(repository_ctx, _RULES_JAVA_FOLDER)
    else:
        repository_ctx.download_and_extract(
            url = _urls(_RULES_JAVA_ARCHIVE),
            sha256 = _RULES_JAVA_SHA256,
        )

_rules_java_repository = repository_rule(implementation = _rules_java_repository_impl)

def _coverage_stub_repository_impl(repository_ctx):
    repository_ctx.file("WORKSPACE", "", executable = False)
    repository_ctx.file("BUILD", """\
filegroup(
    name = "coverage_report_generator",
    visibility = ["//visibility:public"],
)
""", executable = False)

_coverage_stub_repository = repository_rule(implementation = _coverage_stub_repository_impl)

def _is_distribution_bazel():
    """Whether this Bazel was built by a distribution: such builds carry no version number."""
    return not getattr(native, "bazel_version", "")

def tensorplay_repositories():
    """Declares what our BUILD files refer to, save what the calling WORKSPACE has declared."""
    declared = native.existing_rules()
    if "rules_cc" not in declared:
        _rules_cc_repository(name = "rules_cc")
    if "system_libs" not in declared:
        system_library_repository(name = "system_libs")

    # Every test asks for these two, C++ or not. A released Bazel knows the versions that it wants
    # and fetches them; a distribution's Bazel must do without the network.
    if _is_distribution_bazel():
        if "rules_java" not in declared:
            _rules_java_repository(name = "rules_java")
        if "remote_coverage_tools" not in declared:
            _coverage_stub_repository(name = "remote_coverage_tools")
