"""Drives the OpenZiti SDK for C through its Python package: drive.py JWT-FILE SERVICE.

Each line on standard output is one thing that happened.
"""

import ctypes
import sys
import time

from openziti import zitilib

jwt_file, service = sys.argv[1:]
identity_file = jwt_file.removesuffix(".jwt") + ".json"

zitilib.init()
with open(jwt_file, "rb") as file:
    jwt = file.read()
config, length = ctypes.c_char_p(), ctypes.c_size_t()
failure = zitilib._ziti_enroll(jwt, None, None, ctypes.byref(config), ctypes.byref(length))
print("enroll", zitilib.errorstr(failure) if failure else "OK", flush=True)
if failure:
    sys.exit(1)
with open(identity_file, "wb") as file:
    file.write(ctypes.string_at(config, length.value))

context = zitilib.load(identity_file)
# The SDK sends posture data about a second after it has seen what the services ask for.
time.sleep(3)
socket = zitilib.ziti_socket(1)
zitilib._ziti_connect.argtypes = None
failure = zitilib._ziti_connect(socket, ctypes.c_void_p(context), service.encode(), None)
print("dial", zitilib.errorstr(zitilib._ziti_lasterr()) if failure else "OK", flush=True)
