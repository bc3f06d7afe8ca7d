"""Carries data by the OpenZiti SDK for C: carry.py JWT-FILE dial|host SERVICE.

`dial` sends 300,000 bytes and prints whether they came back as they were; `host` sends everything back and prints `listening`.
"""

import ctypes
import socket
import sys
import threading
import time

from openziti import zitilib

jwt_file, role, service = sys.argv[1:]
identity_file = jwt_file.removesuffix(".jwt") + ".json"

zitilib.init()
with open(jwt_file, "rb") as file:
    jwt = file.read()
config, length = ctypes.c_char_p(), ctypes.c_size_t()
failure = zitilib._ziti_enroll(jwt, None, None, ctypes.byref(config), ctypes.byref(length))
if failure:
    sys.exit(zitilib.errorstr(failure))
with open(identity_file, "wb") as file:
    file.write(ctypes.string_at(config, length.value))

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


def dial():
    zitilib._ziti_connect.argtypes = None
    if zitilib._ziti_connect(end, ctypes.c_void_p(context), service.encode(), None):
        sys.exit(zitilib.errorstr(zitilib._ziti_lasterr()))
    sent = bytes((at * 7 + at // 251) & 255 for at in range(300_000))
    received = b""
    connection = socket.socket(fileno=end)
    threading.Thread(target=connection.sendall, args=(sent,)).start()
    while len(received) < len(sent) and (data := connection.recv(65536)):
        received += data
    print("same" if received == sent else f"{len(received)} bytes", flush=True)
    connection.close()


{"dial": dial, "host": host}[role]()
