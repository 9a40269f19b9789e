"""Runs Python scripts for a shell test without a new Python's imports: quick_python of cli_lib.sh.

    python_server.py serve FOLDER SHELL SCRIPTS MODULE...  import modules, some of SCRIPTS; serve
    python_server.py ask FOLDER ARG...  like `python ARG...`; ARG is a script, - or -c CODE

`serve` returns when its socket in FOLDER accepts requests. The server ends when the process SHELL
is gone; end_test of run_mpi.sh ends it too. `ask` passes its standard streams, current folder and
environment, waits, and exits with the code of the script, or 128 + N if signal N ended it.

Each request runs in a new fork of the server, which ends as Python ends after a script, so requests
share nothing but the imports (and caches of matplotlib, if it is one of them). From the server, and
not from `ask`, come umask, limits and the settings that Python reads at its start (LC_*, PYTHON*;
but not PYTHONPATH). A signal to `ask` does not reach the script. Where these matter, or the imports
themselves, start $PYTHON.
"""

import os
import sys

SOCKET = "python.socket"
INT = 4  # bytes of a file descriptor in a message


def ask(folder, words):
    # The module socket would double the time of this start.
    import _socket
    import marshal

    here = os.open(".", os.O_RDONLY)
    os.chdir(folder)  # the path of a socket has at most 107 bytes
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(SOCKET)
    streams = b"".join(fd.to_bytes(INT, sys.byteorder) for fd in (0, 1, 2, here))
    server.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    server.sendall(marshal.dumps(([os.fsencode(word) for word in words], dict(os.environb))))
    server.shutdown(_socket.SHUT_WR)
    code = server.recv(1)
    return code[0] if code else "python_server.py: the server has ended"


def serve(folder, shell, scripts, modules):
    """Return in the fork of a request, with its connection."""
    import atexit
    import contextlib
    import gc
    import importlib
    import select
    import socket

    sys.path[0], before = scripts, set(sys.modules)
    for module in modules:
        with contextlib.suppress(Exception):  # the script reports it
            importlib.import_module(module)
    with contextlib.suppress(Exception):
        draw_once(modules)
    listener = socket.socket(socket.AF_UNIX)
    os.chdir(folder)
    listener.bind(SOCKET)
    listener.listen()
    if os.fork():
        os._exit(0)
    # Do not release the modules at the end of each script: that takes longer than most scripts.
    # Frozen objects are no garbage; one that refers to itself, and to the modules, keeps them.
    kept, names = [], set(sys.modules) - before
    kept.append(kept)
    atexit.register(lambda: kept.extend(sys.modules.pop(name, None) for name in names))
    gc.freeze()
    while True:
        while not select.select([listener], [], [], 1.0)[0]:
            try:
                os.kill(shell, 0)
            except ProcessLookupError:
                os._exit(0)
        connection = listener.accept()[0]
        script = os.fork()
        if not script:
            listener.close()
            return connection
        code = os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])
        with connection, contextlib.suppress(OSError):  # `ask` may be gone
            connection.send(bytes([code if code >= 0 else 128 - code]))


def draw_once(modules):
    """Keep what matplotlib caches at its first picture: fonts, and the parser of formulas."""
    import io

    if "matplotlib.figure" not in modules:
        return
    from matplotlib.figure import Figure

    fig = Figure(figsize=(2, 2), layout="constrained")
    ax = fig.subplots()
    ax.plot([1, 10], [1, 10], label="a")
    ax.set_xscale("log")
    ax.set_title("b", fontweight="bold")
    ax.legend()
    for kind in ("png", "svg"):
        fig.savefig(io.BytesIO(), format=kind)


def become(connection):
    """Take over streams, folder, environment and arguments of `ask`; return code and its file."""
    import marshal
    import signal
    import socket

    with connection:
        _, fds, _, _ = socket.recv_fds(connection, 1, 4)
        words, environment = marshal.loads(connection.makefile("rb").read())
    os.fchdir(fds[3])
    for number, fd in enumerate(fds):
        if number < 3:
            os.dup2(fd, number)
        os.close(fd)
    # The shell starts the server without SIGINT and SIGQUIT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    os.environb.clear()
    os.environb.update(environment)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        old = getattr(sys, name)
        buffering = 1 if name == "stderr" else -1
        new = open(number, mode, buffering, old.encoding, old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)

    sys.argv = [os.fsdecode(word) for word in words]
    name, first = sys.argv[0], ""
    if name == "-":
        code, name = sys.stdin.buffer.read(), "<stdin>"
    elif name == "-c":
        code, name = sys.argv.pop(1), "<string>"
    else:
        with open(name, "rb") as file:
            code = file.read()
        first, name = os.path.dirname(os.path.realpath(name)), os.path.abspath(name)
    path = os.environ.get("PYTHONPATH")
    sys.path[:1] = [first, *(path.split(os.pathsep) if path else [])]
    return code, name


if sys.argv[1] == "ask":
    sys.exit(ask(sys.argv[2], sys.argv[3:]))
code, name = become(serve(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:]))
main = sys.modules["__main__"] = type(sys)("__main__")
main.__file__ = name
exec(compile(code, name, "exec"), main.__dict__)
