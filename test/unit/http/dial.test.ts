import { once } from "node:events";
import { createServer } from "node:net";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { dialer } from "../../../lib/http/dial.ts";
import { proxyPort } from "../../../lib/http/proxy-address.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { socksProxy } from "../../doubles/socks-proxy.ts";
import { tlsFront } from "../../doubles/tls-front.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";

const dial = dialer({ network: homeNetwork });
const never = new AbortController().signal;
/** Speaks first, as a server of SSH does. */
const server = createServer((socket) => {
  socket.write("hello ");
  socket.on("data", (bytes) => socket.end(bytes.toString().toUpperCase())).on("error", () => socket.destroy());
});
let port: number;
beforeAll(async () => {
  port = await portOnLoopback(server);
});
afterAll(() => void server.close());

async function talk(socket: Duplex): Promise<string> {
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  socket.write("you");
  await once(socket, "end");
  socket.destroy();
  return text;
}

test("a connection goes to the host", async () => {
  expect(await talk(await dial({ host: "127.0.0.1", port }, never))).toBe("hello YOU");
});

test("an abort after the connection is open has no effect on it", async () => {
  const abort = new AbortController();
  const socket = await dial({ host: "127.0.0.1", port }, abort.signal);
  abort.abort(new Error("late"));
  expect(await talk(socket)).toBe("hello YOU");
});

describe("no connection is opened", () => {
  test("before every address of a name is checked", async () => {
    const guarded = dialer({
      network: networkPolicy({ allow: [] }, "functions"),
      resolve: (_host, _options, found) =>
        found(null, [
          { address: "192.0.2.1", family: 4 },
          { address: "169.254.169.254", family: 4 },
        ]),
    });
    await expect(guarded({ host: "git.example.com", port: 22 }, never)).rejects.toMatchObject({
      reason: "refused",
      message:
        "host 'git.example.com' resolves to 169.254.169.254, which is a link-local address: Sluice never connects there",
    });
  });

  test("if nothing listens", async () => {
    await expect(dial({ host: "127.0.0.1", port: 1 }, never)).rejects.toMatchObject({
      reason: "unreachable",
      message: "dial tcp 127.0.0.1:1: connect: connection refused",
    });
  });

  test("if the name does not exist", async () => {
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    const lost = dialer({ network: homeNetwork, resolve: (_host, _options, found) => found(unknown, []) });
    await expect(lost({ host: "git.example.com", port: 22 }, never)).rejects.toMatchObject({
      reason: "unreachable",
      message: "dial tcp: lookup git.example.com: no such host",
    });
  });

  test("if it was aborted before", async () => {
    await expect(dial({ host: "127.0.0.1", port }, AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  });
});

describe("a connection through a proxy", () => {
  const login = { username: "jane", password: new Secret("hunter2") };

  test("over HTTP, which resolves the name, with a login", async () => {
    using proxy = await tunnelProxy();
    const way = { url: new URL(`http://127.0.0.1:${proxy.port}`), ...login };
    expect(await talk(await dial({ host: "git.example.com", port, proxy: way }, never))).toBe("hello YOU");
    expect(proxy.asked).toEqual([
      { target: `git.example.com:${port}`, authorization: `Basic ${Buffer.from("jane:hunter2").toString("base64")}` },
    ]);
  });

  test.each([
    ["git.example.com", "git.example.com"],
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "[::1]"],
  ])("over HTTP, to %s, which CONNECT writes as %s", async (host, written) => {
    using proxy = await tunnelProxy();
    const url = new URL(`http://127.0.0.1:${proxy.port}`);
    for (const own of [{}, { username: "" }, { username: "jane" }]) {
      expect(await talk(await dial({ host, port, proxy: { url, ...own } }, never))).toBe("hello YOU");
    }
    const basic = `Basic ${Buffer.from("jane:").toString("base64")}`;
    const target = `${written}:${port}`;
    expect(proxy.asked).toEqual([undefined, undefined, basic].map((authorization) => ({ target, authorization })));
  });

  test.each([
    ["http://proxy.test", 80],
    ["https://proxy.test", 443],
    ["socks5://proxy.test", 1080],
    ["http://proxy.test:3128", 3128],
    ["https://proxy.test:80", 80],
    ["socks5://proxy.test:443", 443],
  ])("uses for %s the port %i", (url, at) => {
    expect(proxyPort({ url: new URL(url) })).toBe(at);
  });

  test("over SOCKS5, which resolves the name", async () => {
    using proxy = await socksProxy();
    const way = { url: new URL(`socks5://127.0.0.1:${proxy.port}`) };
    for (const host of ["git.example.com", "127.0.0.1"]) {
      expect(await talk(await dial({ host, port, proxy: way }, never))).toBe("hello YOU");
    }
    expect(proxy.asked).toEqual([`git.example.com:${port}`, `127.0.0.1:${port}`]);
  });

  test("over SOCKS5 with a login", async () => {
    using proxy = await socksProxy({ login: "jane:hunter2" });
    const way = { url: new URL(`socks5://127.0.0.1:${proxy.port}`), ...login };
    expect(await talk(await dial({ host: "git.example.com", port, proxy: way }, never))).toBe("hello YOU");
  });

  test.each([
    ["jane", "wrong", "socks connect: username/password authentication failed"],
    ["", "", "socks connect: no acceptable authentication methods"],
  ])("over SOCKS5 with a wrong login fails: %s", async (username, password, message) => {
    using proxy = await socksProxy({ login: "jane:hunter2" });
    const way = { url: new URL(`socks5://127.0.0.1:${proxy.port}`), username, password: new Secret(password) };
    const fault = dial({ host: "git.example.com", port, proxy: way }, never);
    await expect(fault).rejects.toMatchObject({ reason: "proxy", message });
  });

  test("over SOCKS5 that refuses fails", async () => {
    using proxy = await socksProxy({ refusal: 2 });
    const way = { url: new URL(`socks5://127.0.0.1:${proxy.port}`) };
    const fault = dial({ host: "git.example.com", port, proxy: way }, never);
    await expect(fault).rejects.toMatchObject({ message: "socks connect: connection not allowed by ruleset" });
  });

  test("over HTTP that refuses fails without the proxy's text", async () => {
    using proxy = await tunnelProxy("407 hunter2");
    const way = { url: new URL(`http://127.0.0.1:${proxy.port}`) };
    await expect(dial({ host: "git.example.com", port, proxy: way }, never)).rejects.toMatchObject({
      reason: "proxy",
      message: "proxy: CONNECT answered with status 407",
    });
  });

  test("that does not speak its protocol fails", async () => {
    const way = (protocol: string) => ({ url: new URL(`${protocol}://127.0.0.1:${port}`) });
    const byHttp = dial({ host: "git.example.com", port, proxy: way("http") }, never);
    await expect(byHttp).rejects.toMatchObject({
      reason: "proxy",
      message: "proxy: the answer to CONNECT is not HTTP's",
    });
    const bySocks = dial({ host: "git.example.com", port, proxy: way("socks5") }, never);
    await expect(bySocks).rejects.toMatchObject({
      reason: "proxy",
      message: "socks connect: it does not speak SOCKS5",
    });
  });

  test("whose certificate is untrusted fails", async () => {
    await using front = await tlsFront(`127.0.0.1:${port}`);
    const way = { url: new URL(`https://${front.address}`) };
    await expect(dial({ host: "git.example.com", port, proxy: way }, never)).rejects.toMatchObject({
      reason: "tls",
      message: "proxy: tls: failed to verify certificate: x509: certificate signed by unknown authority",
    });
  });

  test("that hangs can be aborted", async () => {
    const silent = createServer((socket) => socket.resume());
    const abort = new AbortController();
    const way = { url: new URL(`http://127.0.0.1:${await portOnLoopback(silent)}`) };
    const accepted = once(silent, "connection");
    const fault = dial({ host: "git.example.com", port, proxy: way }, abort.signal);
    await accepted;
    abort.abort(new Error("late"));
    await expect(fault).rejects.toThrow("late");
    silent.close();
  });

  test("checks the proxy's address and the requested host", async () => {
    const guarded = dialer({ network: networkPolicy({ allow: [] }, "functions") });
    const local = { url: new URL("http://127.0.0.1:3128") };
    await expect(guarded({ host: "git.example.com", port, proxy: local }, never)).rejects.toMatchObject({
      reason: "refused",
      message: "127.0.0.1 is a loopback address: Sluice never connects there",
    });
    const elsewhere = { url: new URL("http://192.0.2.1:3128") };
    await expect(guarded({ host: "169.254.169.254", port, proxy: elsewhere }, never)).rejects.toMatchObject({
      reason: "refused",
      message: "169.254.169.254 is a link-local address: Sluice never connects there",
    });
  });
});
