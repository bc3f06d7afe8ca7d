"""Carries data by the OpenZiti SDK for C: carry.py JWT-FILE dial|tick|host SERVICE.

`dial` sends 300,000 bytes and prints whether they came back as they were; `tick` sends a little ten times a second and prints a line
for each that came back; `host` sends everything back and prints `listening`. Enrolls once: the identity file stays.
"""

import ctypes
import os
import socket
import sys
import threading
import time

from openziti import zitilib

jwt_file, role, service = sys.argv[1:]
identity_file = jwt_file.removesuffix(".jwt") + ".json"



def enroll():
    with open(jwt_file, "rb") as file:
        jwt = file.read()
    config, length = ctypes.c_char_p(), ctypes.c_size_t()
    failure = zitilib._ziti_enroll(jwt, None, None, ctypes.byref(config), ctypes.byref(length))
    if failure:
        sys.exit(zitilib.errorstr(failure))
    with open(identity_file, "wb") as file:
        file.write(ctypes.string_at(config, length.value))


zitilib.init()
if not os.path.exists(identity_file):
    enroll()
context = zitilib.load(identity_file)
time.sleep(2)
end = zitilib.ziti_socket(1)


def send_back(accepted):
    with socket.socket(fileno=accepted) as connection:
        while data := connection.recv(65536):
            connection.sendall(data)


def host():
    zitilib.bind(end, context, service)
    zitilib.listen(end, 5)
    print("listening", flush=True)
    while True:
        accepted, _caller = zitilib.accept(end)
        threading.Thread(target=send_back, args=(accepted,)).start()


def connected():
    zitilib._ziti_connect.argtypes = None
    if zitilib._ziti_connect(end, ctypes.c_void_p(context), service.encode(), None):
        sys.exit(zitilib.errorstr(zitilib._ziti_lasterr()))
    return socket.socket(fileno=end)


def tick():
    connection = connected()
    while True:
        connection.sendall(b"tick")
        if not connection.recv(65536):
            sys.exit("the connection is over")
        print("tick", flush=True)
        time.sleep(0.1)


def dial():
    sent = bytes((at * 7 + at // 251) & 255 for at in range(300_000))
    received = b""
    connection = connected()
    connection.settimeout(10)
    threading.Thread(target=connection.sendall, args=(sent,)).start()
    try:
        while len(received) < len(sent) and (data := connection.recv(65536)):
            received += data
    except TimeoutError:
        pass
    print("same" if received == sent else f"{len(received)} bytes", flush=True)
    connection.close()


{"dial": dial, "tick": tick, "host": host}[role]()
