"""Readable things: the interpreter, the operating system, clocks."""

from __future__ import annotations

import atexit
import builtins
import calendar
import datetime as dt
import email.utils
import gc
import glob
import inspect
import io
import math
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from .readable import another_second, attribute, calling, item, nothing, reads, second, setting

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="readable"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
FILE = str(FOLDER / "file.txt")


def write(text: str) -> None:
    with open(FILE, "w") as file:
        file.write(text)


file_made = calling(lambda: write("12345"), lambda: os.remove(FILE))


class Held:
    v = 3


HELD = Held()


# -- sys and the interpreter -------------------------------------------------------------------------------------------


@reads(attribute(sys, "argv", ["a", "b", "c", "d"]))
def arguments_of_the_process(x):
    return x * len(sys.argv)


@reads(calling(lambda: sys.argv.append("more"), lambda: sys.argv.pop()))
def arguments_changed_in_place(x):
    return x * len(sys.argv)


@reads(calling(lambda: sys.path.append("/nowhere"), lambda: sys.path.pop()))
def import_path(x):
    return x * len(sys.path)


@reads(item(sys.modules, "a_module_of_this_test", math))
def loaded_modules(x):
    return x * ("a_module_of_this_test" in sys.modules)


@reads(setting(sys.getrecursionlimit, sys.setrecursionlimit, 1777))
def recursion_limit(x):
    return x * sys.getrecursionlimit()


@reads(setting(sys.getswitchinterval, sys.setswitchinterval, 0.25))
def switch_interval(x):
    return x * sys.getswitchinterval()


@reads(attribute(sys, "stdout", io.StringIO("four")))
def where_prints_go(x):
    return x * (1 if isinstance(sys.stdout, io.StringIO) else 2)


@reads(attribute(sys, "a_flag_of_mine", 5))
def attribute_of_sys_that_appears(x):
    return x * getattr(sys, "a_flag_of_mine", 1)


@reads(attribute(sys, "maxsize", 7))
def maxsize(x):
    return x * (sys.maxsize % 100)


@reads(attribute(sys, "dont_write_bytecode", 17))
def writes_bytecode(x):
    return x * (1 + sys.dont_write_bytecode)


@reads(attribute(sys, "ps1", ">>>"))
def is_interactive(x):
    return x * (2 if hasattr(sys, "ps1") else 1)


EXTRA_REFERENCES: list = []


@reads(calling(lambda: EXTRA_REFERENCES.append(HELD), EXTRA_REFERENCES.clear))
def count_of_references(x):
    return x * (sys.getrefcount(HELD) - 1)


@reads(calling(lambda: sys.settrace(lambda *a: None), lambda: sys.settrace(None)))
def trace_function(x):
    return x * (1 if sys.gettrace() is None else 2)


@reads(nothing)
def depth_of_the_stack(x):
    return x * (len(inspect.stack()) < 30)


@reads(nothing)
def name_of_the_caller(x):
    return x, sys._getframe().f_code.co_name


@reads(nothing)
def name_of_the_frame(x):
    return x, inspect.currentframe().f_code.co_name


@reads(nothing)
def line_of_the_traceback(x):
    return x, traceback.extract_stack()[-1].name


@reads(calling(gc.disable, gc.enable))
def collection_is_enabled(x):
    return x * (2 if gc.isenabled() else 1)


@reads(setting(gc.get_threshold, gc.set_threshold, 501))
def collection_threshold(x):
    return x * gc.get_threshold()[0]


@reads(attribute(builtins, "a_builtin", 4))
def new_builtin(x):
    try:
        return x * a_builtin  # noqa: F821
    except NameError:
        return x


@reads(attribute(builtins, "len", lambda v: 7))
def builtin_replaced(x):
    return x * len((1, 2))


@reads(attribute(builtins, "divmod", lambda a, b: (a, b)))
def divmod_replaced(x):
    return x * divmod(7, 2)[0]


# -- the process and the system ----------------------------------------------------------------------------------------


@reads(item(os.environ, "READABLE", "7"))
def environment_variable(x):
    return x * int(os.environ.get("READABLE", "3"))


@reads(item(os.environ, "READABLE", "7"))
def environment_getenv(x):
    return x * int(os.getenv("READABLE", "3"))


@reads(item(os.environ, "READABLE", "7"))
def environment_contains(x):
    return x * (2 if "READABLE" in os.environ else 1)


@reads(item(os.environ, "READABLE", "7"))
def environment_length(x):
    return x * len(os.environ)


@reads(item(os.environ, "READABLE", "7"))
def environment_as_dict(x):
    return x * len(dict(os.environ))


@reads(item(os.environ, "READABLE", "7"))
def environment_iterated(x):
    n = 0
    for _ in os.environ:
        n += 1
    return x * n


@reads(item(os.environ, "READABLE", "abc"))
def expanded_variables(x):
    return x * len(os.path.expandvars("$READABLE"))


@reads(item(os.environ, "HOME", "/some/where/else"))
def expanded_user(x):
    return x * len(os.path.expanduser("~"))


@reads(item(os.environ, "HOME", "/some/where/else"))
def home_of_the_user(x):
    return x * len(str(pathlib.Path.home()))


@reads(item(os.environ, "READABLE", "7"))
def environment_of_a_subprocess(x):
    return x, subprocess.run(["printenv", "READABLE"], capture_output=True).stdout


before_change_of_folder = os.getcwd()
folder_changed = calling(lambda: os.chdir(FOLDER), lambda: os.chdir(before_change_of_folder))


@reads(folder_changed)
def working_folder(x):
    return x * len(os.getcwd())


@reads(folder_changed)
def absolute_path(x):
    return x * len(os.path.abspath("a"))


@reads(folder_changed)
def real_path(x):
    return x * len(os.path.realpath("a"))


@reads(folder_changed)
def relative_path(x):
    return x * len(os.path.relpath("/a/b"))


@reads(folder_changed)
def resolved_path(x):
    return x * len(str(pathlib.Path("a").resolve()))


@reads(folder_changed)
def folder_of_pathlib(x):
    return x * len(str(pathlib.Path.cwd()))


@reads(file_made)
def file_exists(x):
    return x * (10 if os.path.exists(FILE) else 1)


@reads(file_made)
def file_is_a_file(x):
    return x * (10 if os.path.isfile(FILE) else 1)


@reads(file_made)
def size_of_a_file(x):
    return x * os.path.getsize(FILE)


@reads(file_made)
def files_of_a_folder(x):
    return x * len(os.listdir(FOLDER))


@reads(file_made)
def files_by_pattern(x):
    return x * len(glob.glob(str(FOLDER / "*")))


@reads(file_made)
def file_by_pathlib(x):
    return x * (10 if pathlib.Path(FILE).exists() else 1)


@reads(file_made)
def files_by_pathlib(x):
    return x * len(list(FOLDER.iterdir()))


@reads(file_made)
def text_by_pathlib(x):
    return x, pathlib.Path(FILE).read_text() if pathlib.Path(FILE).is_file() else ""


@reads(file_made)
def contents_of_a_file(x):
    try:
        with open(FILE) as file:
            return x * len(file.read())
    except OSError:
        return x


@reads(file_made)
def file_with_io_open(x):
    try:
        with io.open(FILE) as file:  # noqa: UP020
            return x * len(file.read())
    except OSError:
        return x


@reads(calling(lambda: os.symlink(FOLDER, FOLDER / "link"), lambda: os.remove(FOLDER / "link")))
def link_on_disk(x):
    return x * (2 if os.path.islink(str(FOLDER / "link")) else 1)


@reads(file_made)
def access_to_a_file(x):
    return x * (2 if os.access(FILE, os.R_OK) else 1)


@reads(file_made)
def space_used(x):
    return x * sum(len(files) for _, _, files in os.walk(FOLDER))


def present_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@reads(setting(present_umask, os.umask, 0o77))
def permissions(x):
    mask = os.umask(0)
    os.umask(mask)
    return x * mask


@reads(attribute(os, "sep", "\\"))
def separator_replaced(x):
    return x, os.sep


@reads(attribute(os.path, "join", lambda *a: "mine"))
def join_replaced(x):
    return x, os.path.join("a", "b")


@reads(attribute(platform, "system", lambda: "Mine"))
def name_of_the_system(x):
    return x, platform.system()


# -- time, dates, random numbers ---------------------------------------------------------------------------------------


DEADLINE = time.time() + 1e9


@reads(attribute(time, "time", lambda: DEADLINE + 5))
def clock_of_a_test(x):
    return x, time.time() > DEADLINE


@reads(another_second, by_itself=second)
def moment_of_datetime(x):
    return x, dt.datetime.now().second


@reads(another_second, by_itself=second)
def moment_in_another_zone(x):
    return x, dt.datetime.utcnow().second


@reads(another_second, by_itself=second)
def moment_of_time(x):
    return x, int(time.time())


@reads(another_second, by_itself=second)
def moment_as_text(x):
    return x, time.strftime("%S"), time.ctime()[:19]


@reads(attribute(time, "time", lambda: 5.0))
def clock_replaced(x):
    return x * (1 if time.time() == 5.0 else 2)


@reads(
    calling(lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()), lambda: (os.environ.pop("TZ"), time.tzset()))
)
def local_zone(x):
    return x, dt.datetime.fromtimestamp(0).hour


@reads(
    calling(lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()), lambda: (os.environ.pop("TZ"), time.tzset()))
)
def local_zone_of_time(x):
    return x, time.localtime(0).tm_hour, time.tzname, time.timezone


@reads(
    calling(lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()), lambda: (os.environ.pop("TZ"), time.tzset()))
)
def timestamp_of_a_naive_date(x):
    return x, dt.datetime(2020, 1, 1).timestamp()


@reads(
    calling(lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()), lambda: (os.environ.pop("TZ"), time.tzset()))
)
def zone_of_a_naive_date(x):
    return x, str(dt.datetime(2020, 1, 1).astimezone())


@reads(
    calling(lambda: (os.environ.update(TZ="Asia/Tokyo"), time.tzset()), lambda: (os.environ.pop("TZ"), time.tzset()))
)
def date_in_a_mail(x):
    return x, email.utils.formatdate(0, localtime=True)


@reads(calling(lambda: random.seed(3), lambda: random.seed(3)))
def random_state(x):
    return x, random.getstate()[1][:2]


@reads(calling(lambda: calendar.setfirstweekday(6), lambda: calendar.setfirstweekday(0)))
def first_day_of_the_week(x):
    return x * calendar.firstweekday()
