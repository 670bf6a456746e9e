#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tests/e2e/serve asks the server, with Python's standard library only.

    client.py hostile|clients|same|flood|slow|drain PORT [FILE...]

Prints what is wrong; exit code 1 if anything is.
"""
import http.client
import json
import queue
import random
import socket
import sys
import threading
import time

PORT = int(sys.argv[2])
wrong = []


def check(good, what):
    if not good:
        wrong.append(what)


def connect(timeout=20):
    return socket.create_connection(("127.0.0.1", PORT), timeout)


def raw(data, timeout=20, shut=False):
    """All that the server sends until it closes the connection."""
    with connect(timeout) as s:
        s.sendall(data)
        if shut:
            s.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while chunk := s.recv(65536):
                got += chunk
        except (ConnectionResetError, socket.timeout) as e:
            return got + (b"[no end]" if isinstance(e, socket.timeout) else b"")
        return got


def post(path, fields, headers=None, connection=None):
    c = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    c.request("POST", path, json.dumps(fields), {"Content-Type": "application/json", **(headers or {})})
    r = c.getresponse()
    text = r.read()
    if not connection:
        c.close()
    return r.status, dict(r.getheaders()), json.loads(text) if text else None


P = b"POST /translate HTTP/1.1\r\nHost: localhost\r\n"
SMUGGLED = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
HOSTILE = [
    P + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + SMUGGLED,
    P + b"Content-Length: 5\r\nContent-Length: 60\r\n\r\nhello" + SMUGGLED,
    P + b"Content-Length: 0, 5\r\n\r\nhello" + SMUGGLED,
    P + b"Content-Length: +5\r\n\r\nhello" + SMUGGLED,
    P + b"Content-Length: 0x5\r\n\r\nhello" + SMUGGLED,
    P + b"Content-Length: -5\r\n\r\nhello" + SMUGGLED,
    P + b"Content-Length: 99999999999999999999\r\n\r\nhello",
    P + b"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello" + SMUGGLED,
    P + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    P + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n" + SMUGGLED,
    P + b"Content-Length : 5\r\n\r\nhello" + SMUGGLED,
    b"GET /health HTTP/1.1\nHost: localhost\n\n" + SMUGGLED,
    P + b"A: b\x00c\r\n\r\n" + SMUGGLED,
    P + b"A: b\r\n c\r\n\r\n" + SMUGGLED,
    P + b"A(b: c\r\n\r\n" + SMUGGLED,
    P + b"Host: localhost\r\n\r\n" + SMUGGLED,
    P + CHUNKED + b"\r\n5\nhello\n0\n\n" + SMUGGLED,
    P + b"A: b\rC: d\r\n\r\n" + SMUGGLED,
    b"GET /health HTTP/1.1\r\n\r\n" + SMUGGLED,
    P + CHUNKED + b"\r\n0x5\r\nhello\r\n0\r\n\r\n" + SMUGGLED,
    b"GET /health HTTP/1.9\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    P + b"no colon\r\n\r\n" + SMUGGLED,
    b"GET /hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    P + b": empty\r\n\r\n" + SMUGGLED,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    P + b"A: " + b"b" * 9000 + b"\r\n\r\n",
    P + b"".join(b"F%d: x\r\n" % i for i in range(70)) + b"\r\n",
    P + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    P + b"Upgrade: h2c\r\nContent-Length: 5\r\n\r\nhello",
    b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    P + b"Content-Length: 2000000\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
]


def hostile():
    for request in HOSTILE:
        got = raw(request)
        status = got[9:12]
        check(status in (b"400", b"413", b"414", b"417", b"431", b"501", b"505"), f"{request[:90]!r}: {got[:60]!r}")
        check(got.count(b"HTTP/1.1 ") == 1 and not got.endswith(b"[no end]"), f"{request[:90]!r}: answered twice or left open")
    rng = random.Random(1)
    requests = 0
    good = P + b"Content-Length: 13\r\n\r\nq=a&target=de"
    for _ in range(400):
        data = bytearray(rng.choice([good, rng.choice(HOSTILE)]))
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        got = raw(bytes(data), shut=True)
        check(got == b"" or got.startswith(b"HTTP/1.1 "), f"{bytes(data)[:90]!r}: {got[:60]!r}")
        requests += 1
    check(post("/translate", {"q": "a", "target": "de"})[0] == 200, "no service after hostile requests")


def same():
    """Lines of FILE through 64 connections, with others that are cancelled: as in WANT, line by line."""
    lines = open(sys.argv[3], encoding="utf-8").read().split("\n")[:-1]
    want = open(sys.argv[4], encoding="utf-8").read().split("\n")[:-1]
    todo = queue.Queue()
    for i in range(len(lines)):
        todo.put(i)
    got = [None] * len(lines)
    stop = threading.Event()

    def work():
        c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
        while True:
            try:
                i = todo.get_nowait()
            except queue.Empty:
                return
            status, _, answer = post("/translate", {"q": lines[i] or " ", "source": "en", "target": "de"},
                                     {"X-Timeout-Ms": "100000"}, c)
            got[i] = answer["translatedText"] if status == 200 else f"status {status} {answer}"

    def disturb(seed):
        rng = random.Random(seed)
        while not stop.is_set():
            try:
                with connect() as s:
                    body = json.dumps({"text": lines[:20]}).encode()
                    s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" %
                              (len(body), body[:len(body) - rng.randrange(0, 2)]))
                    time.sleep(rng.random() / 20)
            except OSError:
                pass

    threads = [threading.Thread(target=work) for _ in range(64)]
    others = [threading.Thread(target=disturb, args=(i,)) for i in range(2)]
    for t in threads + others:
        t.start()
    for t in threads:
        t.join()
    stop.set()
    for t in others:
        t.join()
    for i, (a, b) in enumerate(zip(got, want)):
        check((a or "").strip() == b, f"line {i + 1}: {a!r}, expected {b!r}")
    check(len(got) == len(want), "not as many lines")


def flood():
    """500 requests at once: each is served or refused with 503 and Retry-After, and none hangs."""
    results = []

    def work():
        try:
            t = time.monotonic()
            status, headers, answer = post("/v1/translate", {"text": "The old man sees a child. " * 10}, {"X-Timeout-Ms": "60000"})
            results.append((status, headers, answer, time.monotonic() - t))
        except OSError as e:
            results.append((0, {}, str(e), 0))

    threads = [threading.Thread(target=work) for _ in range(500)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    served = sum(r[0] == 200 for r in results)
    for status, headers, answer, _ in results:
        check(status in (200, 503), f"status {status}: {answer}")
        if status == 503:
            check("Retry-After" in headers and "position" in answer and "seconds" in answer, f"503 without more: {headers} {answer}")
    check(len(results) == 500, f"{500 - len(results)} hang")
    check(0 < served < 500, f"{served} of 500 served")
    print(f"500 at once: {served} served, {len(results) - served} refused")


def slow():
    """Connections that hold back do not delay others."""
    def median(n=15):
        times = []
        c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        for _ in range(n):
            t = time.monotonic()
            check(post("/translate", {"q": "The old man sees a child.", "target": "de"}, None, c)[0] == 200, "not served")
            times.append(time.monotonic() - t)
        return sorted(times)[n // 2]

    before = median()
    held = [connect() for _ in range(200)]
    for i, s in enumerate(held):
        s.sendall([b"GET /hea", P, P + b"Content-Length: 100\r\n\r\nabc", b""][i % 4])
    during = median()
    for s in held:
        s.close()
    check(during < 2 * before + 0.02, f"{before * 1000:.1f} ms alone, {during * 1000:.1f} ms beside 200 slow connections")
    print(f"median {before * 1000:.1f} ms alone, {during * 1000:.1f} ms beside 200 slow connections")


def drain():
    """SIGTERM comes while these run (FILE is made when they do): all accepted ones are answered."""
    results = []
    began = threading.Semaphore(0)

    def work(i):
        with connect(60) as s:
            body = json.dumps({"text": "The old man sees a child.\n" * 20}).encode()
            s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nX-Timeout-Ms: 60000\r\nConnection: close\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            began.release()
            got = b""
            while chunk := s.recv(65536):
                got += chunk
            results.append(got[9:12])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for t in threads:
        t.start()
    for _ in threads:
        began.acquire()
    time.sleep(0.1)
    open(sys.argv[3], "w").close()
    for t in threads:
        t.join()
    check(results == [b"200"] * 20, f"answers after SIGTERM: {results}")


{"hostile": hostile, "same": same, "flood": flood, "slow": slow, "drain": drain}[sys.argv[1]]()
for what in wrong[:10]:
    print("FAILED:", what)
sys.exit(bool(wrong))
