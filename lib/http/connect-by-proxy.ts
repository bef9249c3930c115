import { once } from "node:events";
import { isIP, isIPv4 } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { messageOf } from "../core/failure.ts";
import { DialError, type DialTarget, type Proxy } from "../core/ports/dial.ts";
import { certificateFault, isCertificateFault } from "./certificate-fault.ts";
import { proxyAuthorization } from "./proxy-address.ts";

/** The head of a proxy's answer to CONNECT. */
const maxHeadBytes = 16_384;

/**
 * Asks a proxy, to which a socket leads, for a connection to a host, which the proxy resolves. Answers the stream that leads on
 * to it. Throws a {@link DialError}.
 */
export async function connectByProxy(socket: Duplex, target: DialTarget, proxy: Proxy): Promise<Duplex> {
  const way = await wayToProxy(socket, proxy);
  await (proxy.url.protocol === "socks5:" ? connectBySocks(way, target, proxy) : connectByHttp(way, target, proxy));
  return way;
}

/** The stream in which a proxy takes requests: the socket that leads to it, or TLS on it. Throws a {@link DialError}. */
export async function wayToProxy(socket: Duplex, { url }: Proxy): Promise<Duplex> {
  if (url.protocol !== "https:") return socket;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = connectTls({ socket, ...(isIP(host) === 0 ? { servername: host } : { host }) });
  try {
    await once(secure, "secureConnect");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (isCertificateFault(code)) {
      throw new DialError("tls", `proxy: ${certificateFault(code, undefined, host, new Date())}`, { cause: error });
    }
    throw new DialError("proxy", `proxy: ${messageOf(error)}`, { cause: error });
  }
  return secure;
}

async function connectByHttp(socket: Duplex, { host, port }: DialTarget, proxy: Proxy): Promise<void> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const login = proxyAuthorization(proxy);
  const headers = [`Host: ${authority}`, ...(login === undefined ? [] : [`Proxy-Authorization: ${login}`])];
  socket.write(`CONNECT ${authority} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
  const read = readBytes(socket);
  let head = "";
  // Byte by byte: a server behind the proxy may speak first, and its bytes have to stay in the connection.
  while (!head.endsWith("\r\n\r\n")) {
    if (head.length >= maxHeadBytes) throw new DialError("proxy", "proxy: the answer to CONNECT is too long");
    head += (await read(1)).toString("latin1");
  }
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) throw new DialError("proxy", "proxy: the answer to CONNECT is not HTTP's");
  if (!status.startsWith("2")) throw new DialError("proxy", `proxy: CONNECT answered with status ${status}`);
}

const version = 5;
const connect = 1;
const withoutLogin = 0;
const byPassword = 2;
/** RFC 1928, section 6, in the words of Go's client (golang.org/x/net/internal/socks). */
const refusals = [
  "succeeded",
  "general SOCKS server failure",
  "connection not allowed by ruleset",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "TTL expired",
  "command not supported",
  "address type not supported",
];

/** Asks a SOCKS5 proxy (RFC 1928) for a connection, with a password (RFC 1929) if there is one. The proxy resolves the name. */
async function connectBySocks(
  socket: Duplex,
  { host, port }: DialTarget,
  { username = "", password }: Proxy,
): Promise<void> {
  const read = readBytes(socket);
  const methods = username === "" ? [withoutLogin] : [withoutLogin, byPassword];
  socket.write(Buffer.from([version, methods.length, ...methods]));
  const [its, method] = await read(2);
  if (its !== version) throw unexpected("it does not speak SOCKS5");
  if (method === byPassword && username !== "") {
    const [name, word] = [lengthAnd(Buffer.from(username)), lengthAnd(Buffer.from(password?.reveal() ?? ""))];
    socket.write(Buffer.concat([Buffer.from([1]), name, word]));
    const [, status] = await read(2);
    if (status !== 0) throw unexpected("username/password authentication failed");
  } else if (method !== withoutLogin) {
    throw unexpected("no acceptable authentication methods");
  }
  const asked = Buffer.alloc(2);
  asked.writeUInt16BE(port);
  socket.write(Buffer.concat([Buffer.from([version, connect, 0]), addressOf(host), asked]));
  const [, reply = 0, , type] = await read(4);
  if (reply !== 0) throw unexpected(refusals[reply] ?? `unknown code: ${reply}`);
  // The address at which the proxy goes on: it is not used.
  if (type === 3) await read((await read(1))[0] ?? 0);
  else await read(type === 4 ? 16 : 4);
  await read(2);
}

function addressOf(host: string): Buffer {
  const bare = host.replace(/^\[|\]$/g, "");
  if (isIPv4(bare)) return Buffer.from([1, ...bare.split(".").map(Number)]);
  // As a name: proxies also accept an IPv6 address in this form, and the client does not have to parse it.
  return Buffer.concat([Buffer.from([3]), lengthAnd(Buffer.from(isIP(bare) === 0 ? host : bare))]);
}

function lengthAnd(bytes: Buffer): Buffer {
  if (bytes.length > 255)
    throw new DialError("proxy", "socks connect: a host, username or password is too long for SOCKS5");
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function unexpected(why: string): DialError {
  return new DialError("proxy", `socks connect: ${why}`);
}

/** Answers exactly so many bytes from the beginning of what a connection says; what follows stays in it. */
type ReadBytes = (count: number) => Promise<Buffer>;

/** Throws a {@link DialError} if the connection ends or fails before. */
function readBytes(socket: Duplex): ReadBytes {
  return async (count) => {
    if (count === 0) return Buffer.alloc(0);
    for (;;) {
      const found: unknown = socket.read(count);
      // At the end of a stream it answers what is left, which may be too little.
      if (Buffer.isBuffer(found) && found.length === count) return found;
      if (socket.readableEnded || socket.destroyed || Buffer.isBuffer(found)) throw broken();
      await new Promise<void>((resolve, reject) => {
        const done = (): void => {
          socket.off("readable", done).off("end", done).off("close", done).off("error", fail);
          resolve();
        };
        const fail = (error: Error): void => {
          socket.off("readable", done).off("end", done).off("close", done);
          reject(new DialError("proxy", `proxy: the connection broke off: ${error.message}`, { cause: error }));
        };
        socket.once("readable", done).once("end", done).once("close", done).once("error", fail);
      });
    }
  };
}

function broken(): DialError {
  return new DialError("proxy", "proxy: the connection broke off");
}
