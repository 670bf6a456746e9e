#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the server's reader of requests with h11 and httptools: what it accepts both must accept, as the same request.

    bench/http_diff.py BUILD/bench/bench_http [--requests N] [--seed S]

Requests are made from legal ones by random changes that smugglers use. Needs h11 and httptools (PyPI); without them it
says so and does nothing. Exit code 1: a request is read differently.
"""
import argparse
import json
import random
import subprocess
import sys

try:
    import h11
    import httptools
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

LEGAL = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /languages?x=1&y=%20 HTTP/1.1\r\nHost: localhost:80\r\nAccept: */*\r\nConnection: close\r\n\r\n",
    b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nq=hello&x=1",
    b"POST /translate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=b\r\nxyz\r\n0\r\n\r\n",
    b"POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nTrailer: 1\r\n\r\n",
    b"GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"DELETE /v1/requests/7 HTTP/1.1\r\nHost: [::1]:8080\r\nX-Request-Id: 7\r\n\r\n",
]
PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b";", b",", b"0", b"5", b"+5", b"-1", b"0x5", b"\xff", b"\x0b", b"chunked",
          b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: x\r\n",
          b"Host: b\r\n", b" folded\r\n", b"HTTP/1.1", b"HTTP/1.0", b"#", b"?", b"%", b"\"", b"{", b"Upgrade: x\r\n",
          b"Connection: close\r\n", b"Expect: 100-continue\r\n", b"0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: s\r\n\r\n"]


def change(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(4)
        if how == 0:
            data[at:at] = rng.choice(PIECES)
        elif how == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif how == 2:
            del data[at:at + rng.randrange(1, 4)]
        else:
            ends = [i + 2 for i in range(len(data) - 1) if data[i:i + 2] == b"\r\n"]
            data[(at := rng.choice(ends or [0])):at] = rng.choice(PIECES)
    return bytes(data)


def split(target, host):
    if target.lower().startswith(b"http://"):
        target = target[7 + len(host):]
    path, _, query = target.partition(b"?")
    return path.hex(), query.hex()


def by_h11(data):
    c = h11.Connection(h11.SERVER)
    c.receive_data(data)
    body = b""
    request = c.next_event()
    if not isinstance(request, h11.Request):
        return None
    while True:
        event = c.next_event()
        if isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            break
        else:
            return None
    host = dict(request.headers).get(b"host", b"")
    return split(request.target, host) + (host.hex(), body.hex())


class Collector:
    def __init__(self):
        self.url, self.host, self.body, self.ended = b"", b"", b"", 0

    def on_url(self, url):
        if self.ended == 0:
            self.url += url

    def on_header(self, name, value):
        if self.ended == 0 and name.lower() == b"host":
            self.host = value

    def on_body(self, body):
        if self.ended == 0:
            self.body += body

    def on_message_complete(self):
        self.ended += 1


def by_httptools(data):
    c = Collector()
    httptools.HttpRequestParser(c).feed_data(data)
    host = c.host.strip(b" \t")
    return split(c.url, host) + (host.hex(), c.body.hex()) if c.ended else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    requests = [change(rng, rng.choice(LEGAL)) for _ in range(args.requests)] + LEGAL
    stdin = b"".join(b"%d\n%s" % (len(r), r) for r in requests)
    lines = subprocess.run([args.program], input=stdin, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert len(lines) == len(requests)
    accepted = stricter = wrong = 0
    for request, line in zip(requests, lines):
        ours = json.loads(line)
        mine = tuple(ours[k] for k in ("path", "query", "host", "body")) if ours["status"] == 1 else None
        theirs = []
        for read in by_h11, by_httptools:
            try:
                theirs.append(read(request[:ours["size"]] if mine else request))
            except (h11.RemoteProtocolError, httptools.HttpParserError):
                theirs.append(None)
        accepted += mine is not None
        stricter += mine is None and ours["status"] != 0 and None not in theirs
        if mine and any(t != mine for t in theirs):
            wrong += 1
            print(f"{request!r}\n  ours {mine}\n  h11 {theirs[0]}\n  httptools {theirs[1]}")
    print(f"{len(requests)} requests: {accepted} accepted, {wrong} of them read differently by h11 or httptools; "
          f"{stricter} refused that both accept")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
