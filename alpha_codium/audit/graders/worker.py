"""The process in which a grader runs: it answers the cases that come as JSON lines, each in a fork of its own.

This file runs in the grader's interpreter (Python 3.8 or later), which needn't have our package.

1. The first line names the grader; the answer says which forms it grades, or why it can't be loaded.
2. Each following line is `{"form", "arguments", "seconds"}`. A fork calls the grader, and sends its answer with a
   random mark, so that what a program writes to every descriptor isn't taken for it. A fork that outlives `seconds` is
   ended with its group.
3. As process 1 of a namespace, this process also ends what a case left running, and removes its files.
"""

import functools
import importlib
import importlib.machinery
import json
import os
import secrets
import select
import shutil
import signal
import sys
import time
import traceback
import types

FUNCTIONS = {"stdin": "grade", "call": "grade_call", "assertions": "grade_assertions"}


def load(given):
    """Return the functions of a grader by form; `given` has `module` (a name or a path), `function` and `form`."""
    name = given["module"]
    if name.endswith(".py"):
        # At the end, since an adapter may be called as the package that it imports.
        sys.path.append(os.path.dirname(os.path.abspath(name)))
        loader = importlib.machinery.SourceFileLoader("audited_grader", name)
        module = types.ModuleType(loader.name)
        sys.modules[loader.name] = module
        loader.exec_module(module)
    else:
        module = importlib.import_module(name)
    if given["function"]:
        return {given["form"]: getattr(module, given["function"])}
    found = {form: getattr(module, function, None) for form, function in FUNCTIONS.items()}
    functions = {form: function for form, function in found.items() if callable(function)}
    if "stdin" in functions:
        for language in getattr(module, "LANGUAGES", ()):
            functions["stdin " + language] = functools.partial(functions["stdin"], language=language)
    if not functions:
        raise AttributeError("%s has no function %s" % (name, ", ".join(FUNCTIONS.values())))
    return functions


def described(error):
    """Return an exception in one line."""
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1][:300]


def said_by(grade, arguments):
    """Return what a grader says of a case."""
    try:
        answer = grade(*arguments)
        if answer is None or isinstance(answer, (str, bytes)):
            return {"seen": "error", "message": "it returned %.50r, neither true nor false" % (answer,)}
        return {"seen": "accepted" if bool(answer) else "rejected"}
    except BaseException as error:
        return {"seen": "error", "message": described(error)}


def answer_of(grade, request):
    """Call the grader in a fork, and wait for its answer no longer than the request says."""
    mark = secrets.token_hex(16).encode()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        # The grader, or a program in its process, may replace these.
        write, leave, dumps = os.write, os._exit, json.dumps
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in (reader, *SETTINGS["hidden"]):
            os.close(descriptor)
        answer = said_by(grade, request["arguments"])
        write(writer, b"\n" + mark + dumps(answer).encode() + b"\n")
        leave(0)
    os.close(writer)
    text, ended = read_until(reader, mark, time.monotonic() + request["seconds"])
    os.close(reader)
    end_group(child)
    clean_up()
    return json.loads(text) if text else {"seen": "crash" if ended else "hang"}


def read_until(reader, mark, deadline):
    """Return the text after the mark in a line, and whether all writers are gone."""
    data = b""
    while True:
        ready, _, _ = select.select([reader], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return b"", False
        part = os.read(reader, 1 << 16)
        data = (data + part)[-(1 << 20) :]
        _, found, text = data.partition(mark)
        if found and b"\n" in text:
            return text.partition(b"\n")[0], True
        if not part:
            return b"", True


def end_group(child):
    """End the processes of a case; as process 1, all that it started."""
    for end, number in ((os.killpg, child), (os.kill, child)):
        try:
            end(number, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(child, 0)
    while os.getpid() == 1 and end_others():
        time.sleep(0.005)


def end_others():
    """End and reap all processes of the namespace but this one; whether there were any."""
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
    for number in others:
        try:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, os.WNOHANG)
        except OSError:
            pass
    return bool(others)


def keep_files():
    """Keep the files that the grader made while it was loaded."""
    entries = [entry.path for folder in filter(os.path.isdir, SETTINGS["shared"]) for entry in os.scandir(folder)]
    SETTINGS["kept"] = {*SETTINGS["kept"], *entries} - {SETTINGS["folder"]}


def clean_up():
    """As process 1, remove the files of a case."""
    if os.getpid() != 1:
        return
    for folder in filter(os.path.isdir, SETTINGS["shared"]):
        for entry in os.scandir(folder):
            if entry.path in SETTINGS["kept"]:
                continue
            try:
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
            except OSError:
                pass
    os.makedirs(SETTINGS["folder"], exist_ok=True)
    os.chdir(SETTINGS["folder"])


# `shared` folders are emptied after each case, but for what is `kept`; cases run in `folder`. `hidden` are the
# descriptors of the conversation with our process.
SETTINGS: "dict" = {"shared": (), "kept": (), "folder": ".", "hidden": ()}


def serve():
    """Answer the lines on stdin, on stdout."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    given = json.loads(requests.readline())
    SETTINGS.update(given["settings"])
    SETTINGS["hidden"] = requests.fileno(), answers.fileno()
    clean_up()
    try:
        functions = load(given)
    except BaseException as error:
        say({"error": described(error)})
        return
    keep_files()
    say({"forms": sorted(functions)})
    for line in iter(requests.readline, ""):
        request = json.loads(line)
        say(answer_of(functions[request["form"]], request))


if __name__ == "__main__":
    # The folder of this file, whose modules aren't the grader's.
    sys.path.pop(0)
    # Process 1 gets only signals that it handles, and programs send them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve()
