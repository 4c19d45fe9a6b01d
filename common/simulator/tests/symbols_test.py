"""Whatever the headers and the libraries of the CUDA Toolkit 13.0 have, the simulator's library has, too: a program finds every
function, or a line that names it, and never the loader's "symbol lookup error"."""

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

RUNTIME = ["cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h"]
DRIVER = ["cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"]
# Of Windows; and a macro's result that no library has.
ABSENT = {"cuWGLGetDevice", "cudaWGLGetDevice", "cuGetProcAddress_v2_ptsz"}
NOT_SUPPORTED, NOT_FOUND = 801, 500
SYMBOL_NOT_FOUND, VERSION_NOT_SUFFICIENT = 1, 2


def text_of(header):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(errors="replace"), flags=re.S)


def declared(include):
    """The functions' names in the headers, and those that macros make of them."""
    names = set()
    for header in RUNTIME + DRIVER:
        if not (include / header).exists():
            continue
        text = text_of(include / header)
        names.update(re.findall(r"CUDA(?:RT)?API\s+(cu\w+)\s*\(", text))
        for plain, suffix, name in re.findall(r"#\s*define\s+(cu[A-Za-z0-9]+)\w*\s+(?:__CUDA(?:RT)?_API_(PTDS|PTSZ)\()?(cu\w+)", text):
            if name.startswith(plain):
                names.add(name)
                if suffix:
                    names.add(f"{name}_{suffix.lower()}")
    return names - ABSENT


def exported(library):
    """The functions that a library of the toolkit exports."""
    if shutil.which("nm") is None or not library.exists():
        return set()
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    return {name for name in names if re.match(r"(__)?cu[A-Z]|(__)?cuda", name)} - ABSENT


def versions(include):
    """From a function of the driver to the versions of CUDA that brought it or changed its parameters."""
    found = {}
    for header in sorted(include.glob("cuda*Typedefs.h")):
        for name, version, per_thread in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\)", header.read_text()):
            if not per_thread:
                found.setdefault(name, set()).add(int(version))
    return {name: sorted(numbers) for name, numbers in found.items() if name not in ABSENT}


class Symbols(unittest.TestCase):
    include = library_folder = simulator = None

    def setUp(self):
        self.library = ctypes.CDLL(str(self.simulator))

    def address(self, name):
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value

    def find(self, name, version, flags=0):
        function, status = ctypes.c_void_p(), ctypes.c_int(-1)
        code = self.library.cuGetProcAddress_v2(
            name.encode(), ctypes.byref(function), version, ctypes.c_uint64(flags), ctypes.byref(status))
        return code, status.value, function.value

    def test_what_headers_declare(self):
        names = declared(self.include)
        self.assertGreater(len(names), 800)
        self.assertEqual([name for name in sorted(names) if not hasattr(self.library, name)], [])

    def test_what_the_toolkits_libraries_export(self):
        for file in ("stubs/libcuda.so", "libcudart.so.13"):
            missing = [name for name in exported(self.library_folder / file) if not hasattr(self.library, name)]
            self.assertEqual(sorted(missing), [], file)

    def test_each_version_of_a_function_is_found_by_its_number(self):
        found = versions(self.include)
        self.assertGreater(len(found), 400)
        for name, numbers in found.items():
            known = [name] + [f"{name}_v{i}" for i in range(2, 5) if hasattr(self.library, f"{name}_v{i}")]
            for number in numbers:
                older = [known[i] for i in range(min(len(known), len(numbers))) if numbers[i] <= number]
                self.assertEqual(self.find(name, number), (0, 0, self.address(older[-1])), f"{name} of {number}")
            code, status, function = self.find(name, numbers[0] - 1)
            self.assertEqual((code, status, function), (NOT_FOUND, VERSION_NOT_SUFFICIENT, None), name)

    def test_a_stream_of_each_thread(self):
        self.assertEqual(self.find("cuMemcpy", 13000, 2)[2], self.address("cuMemcpy_ptds"))
        self.assertEqual(self.find("cuStreamQuery", 13000, 2)[2], self.address("cuStreamQuery_ptsz"))

    def test_a_name_that_cuda_does_not_have(self):
        self.assertEqual(self.find("cuMakeCoffee", 13000), (NOT_FOUND, SYMBOL_NOT_FOUND, None))

    def test_what_is_not_supported_says_so_once_and_by_name(self):
        calls = "import ctypes; l = ctypes.CDLL('%s'); print([getattr(l, n)() for n in %r])"
        names = ["cuArrayCreate_v2", "cuArrayCreate_v2", "cudaMallocArray", "cuMulticastCreate"]
        ran = subprocess.run(
            [sys.executable, "-c", calls % (self.simulator, names)], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout.strip(), str([NOT_SUPPORTED] * 4))
        said = ["cuArrayCreate_v2", "cudaMallocArray", "cuMulticastCreate"]
        self.assertEqual(ran.stderr.splitlines(), [f"simulator: {name}() is not supported" for name in said])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", type=Path, required=True, help="the toolkit's headers")
    parser.add_argument("--libraries", type=Path, required=True, help="its libraries")
    parser.add_argument("--simulator", type=Path, required=True, help="libcudart.so.13")
    arguments, rest = parser.parse_known_args()
    version = re.search(r"#define CUDA_VERSION (\d+)", (arguments.include / "cuda.h").read_text())
    if version is None or int(version[1]) != 13000:
        print("The functions are those of CUDA 13.0: with another toolkit they are not compared.")
        return
    Symbols.include, Symbols.library_folder, Symbols.simulator = arguments.include, arguments.libraries, arguments.simulator
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
