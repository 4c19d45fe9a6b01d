"""The course's Python is one package. Its modules import each other from the repository's root on, `from common.plots …`, and a
program among them is run there by its name, `python3 -m common.tools.record`: no file looks for another one's folder. CMake,
which runs them in other folders, puts the root into PYTHONPATH (`ladder_python` in common/ladder.cmake).
"""
