"""Tests what a device may do, against a throwaway controller."""

import base64
import json
import os
import shlex
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

HERE = Path(__file__).parent


class AccessTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = shlex.split(os.environ.get("PORTCULLIS", "npx portcullis"))
        model = str(HERE.parent / "network.yaml")
        # It ends when its standard input is closed, or when this process is gone.
        cls.process = subprocess.Popen(
            [*command, "test-server", "--model", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        cls.server = json.loads(cls.process.stdout.readline())
        cls.api = cls.server["url"] + "/edge/client/v1"

    @classmethod
    def tearDownClass(cls):
        cls.process.stdin.close()
        cls.process.stdout.close()
        cls.process.wait()

    def ask(self, method, url, body=None, session="", context=None, media_type="application/json"):
        """Answers the status and the body."""
        headers = {"content-type": media_type, "zt-session": session}
        request = Request(url, data=body, headers=headers, method=method)
        try:
            with urlopen(request, context=context) as response:
                return response.status, json.load(response)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    def control(self, path, body):
        status, _ = self.ask("POST", self.server["control"] + path, json.dumps(body).encode())
        self.assertEqual(status, 200)

    def trusting(self):
        return ssl.create_default_context(cadata=self.server["ca"])

    def enroll(self, invitation):
        """Makes a key, has it certified by an invitation, and answers a context that shows the certificate."""
        payload = invitation.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        with tempfile.TemporaryDirectory() as folder:
            key, request, cert = (Path(folder) / name for name in ("key.pem", "request.pem", "cert.pem"))
            make = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=laptop"
            subprocess.run([*make.split(), "-keyout", key, "-out", request], check=True, capture_output=True)
            url = f"{self.api}/enroll?method=ott&token={claims['jti']}"
            _, answer = self.ask(
                "POST", url, request.read_bytes(), context=self.trusting(), media_type="application/x-pem-file"
            )
            cert.write_text(answer["data"]["cert"])
            context = self.trusting()
            context.load_cert_chain(cert, key)
            return context

    def test_what_a_laptop_may_do(self):
        context = self.enroll(self.server["invitations"]["laptop"])
        _, login = self.ask("POST", self.api + "/authenticate?method=cert", b"{}", context=context)
        session = login["data"]["token"]

        def services():
            return self.ask("GET", self.api + "/services", session=session, context=context)

        _, answer = services()
        self.assertEqual([service["name"] for service in answer["data"]], ["wiki"])
        self.control("/faults", {"status": 503, "route": "GET /services"})
        self.assertEqual(services()[0], 503)
        self.control("/clock", {"elapseMs": 31 * 60_000})
        self.assertEqual(services()[0], 401)


if __name__ == "__main__":
    unittest.main()
