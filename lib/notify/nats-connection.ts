import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { goJson } from "../core/go-json.ts";
import { ownVersion } from "../core/own-version.ts";
import { DialError } from "../core/ports/dial.ts";
import type { NatsKey } from "./nats-key.ts";
import { throwIfEnded } from "./post-json.ts";
import type { ProviderParts } from "./provider.ts";

/** How to log in to a server: by a token, a name and password, a key, or a token with a key. */
export interface NatsLogin {
  readonly jwt?: string;
  readonly key?: NatsKey;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}

const maxLineBytes = 1_048_576;
const defaultPort = 4222;

/** A connection of its own to publish one message, as NATS' client speaks. Throws in that client's words. */
export async function publishOnce(
  { server, login, name }: { readonly server: string; readonly login: () => NatsLogin; readonly name: string },
  { subject, payload }: { readonly subject: string; readonly payload: string },
  dial: ProviderParts["dial"],
  signal: AbortSignal,
): Promise<void> {
  const connected = await step("error connecting to server", signal, () =>
    firstOf(server.split(","), (one) => connect(serverUrl(one.trim()), login(), name, dial, signal), signal),
  );
  const { lines, info, socket } = connected;
  try {
    await step("error publishing message to server", signal, async () => {
      const bytes = Buffer.from(payload);
      if (bytes.length > info.max_payload) throw new Error("nats: maximum payload exceeded");
      socket.write(
        Buffer.concat([Buffer.from(`PUB ${subject} ${bytes.length}\r\n`), bytes, Buffer.from("\r\nPING\r\n")]),
      );
      await pong(lines, socket);
    });
  } finally {
    connected.close();
  }
}

async function step<Result>(words: string, signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throwIfEnded(signal, `${words}: `);
    throw new Error(`${words}: ${messageOf(error)}`, { cause: error });
  }
}

function serverUrl(server: string): URL {
  const text = server.includes("://") ? server : `nats://${server}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["nats:", "tls:"].includes(url.protocol)) throw new Error("nats: invalid URL");
  return url;
}

/** The result of the first server that answers. Throws the error of the last one if none does. */
async function firstOf<Result>(
  servers: readonly string[],
  ask: (server: string) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (const [index, server] of servers.entries()) {
    try {
      return await ask(server);
    } catch (error) {
      if (signal.aborted || index === servers.length - 1) throw error;
    }
  }
  throw new Error("nats: no servers available for connection");
}

const Info = z.object({
  nonce: z.string().default(""),
  headers: z.boolean().default(false),
  max_payload: z.number().default(maxLineBytes),
  tls_required: z.boolean().default(false),
  tls_available: z.boolean().default(false),
});

interface Connection {
  readonly socket: Duplex;
  readonly lines: Lines;
  readonly info: z.output<typeof Info>;
  close(): void;
}

async function connect(
  url: URL,
  login: NatsLogin,
  name: string,
  dial: ProviderParts["dial"],
  signal: AbortSignal,
): Promise<Connection> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const plain = await dialled({ host, port: url.port === "" ? defaultPort : Number(url.port) }, dial, signal);
  const sockets = [plain];
  const close = (): void => {
    signal.removeEventListener("abort", close);
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    let [socket, lines] = [plain, linesOf(plain)];
    const info = infoOf(await lines.next());
    const isSecure = url.protocol === "tls:" || info.tls_required;
    if (isSecure && !info.tls_required && !info.tls_available) throw new Error("nats: secure connection not available");
    if (isSecure) {
      lines.stop();
      const secure = connectTls({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
      sockets.unshift(secure);
      await once(secure, "secureConnect", { signal });
      [socket, lines] = [secure, linesOf(secure)];
    }
    socket.write(`CONNECT ${goJson(connectOptions(url, login, name, info, isSecure))}\r\nPING\r\n`);
    await pong(lines, socket);
    return { socket, lines, info, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function dialled(
  target: { readonly host: string; readonly port: number },
  dial: ProviderParts["dial"],
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await dial(target, signal);
  } catch (error) {
    if (error instanceof DialError && error.message.includes("connection refused")) {
      throw new Error("nats: no servers available for connection", { cause: error });
    }
    throw error;
  }
}

/** The client's `CONNECT` message. A login in the address takes precedence over that of the Secret. */
function connectOptions(
  url: URL,
  login: NatsLogin,
  name: string,
  info: z.output<typeof Info>,
  isSecure: boolean,
): { readonly [field: string]: string | number | boolean | undefined } {
  const { jwt, key } = login;
  const { username, password, token } = url.username === "" ? login : loginOf(url);
  if (key !== undefined && info.nonce === "") throw new Error("nats: nkeys not supported by the server");
  return {
    ...{ verbose: false, pedantic: false, jwt, nkey: jwt === undefined ? key?.publicKey : undefined },
    ...{ sig: key?.sign(info.nonce), user: username, pass: password, auth_token: token },
    ...{ tls_required: isSecure, name, lang: "node", version: ownVersion, protocol: 1, echo: true },
    ...{ headers: info.headers, no_responders: info.headers },
  };
}

function loginOf({ username, password }: URL): NatsLogin {
  if (password === "") return { token: decodeURIComponent(username) };
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function infoOf(line: string): z.output<typeof Info> {
  if (!line.startsWith("INFO ")) throw new Error("nats: protocol exception, INFO not received");
  try {
    return Info.parse(JSON.parse(line.slice("INFO ".length)));
  } catch (cause) {
    throw new Error("nats: protocol exception, INFO not received", { cause });
  }
}

/** Waits for the answer to a `PING`: then the server has read everything before it. Throws the server's error. */
async function pong(lines: Lines, socket: Duplex): Promise<void> {
  for (;;) {
    const line = await lines.next();
    if (line === "PONG") return;
    if (line === "PING") socket.write("PONG\r\n");
    if (line.startsWith("-ERR")) throw refusal(line);
  }
}

function refusal(line: string): Error {
  const said = line
    .slice("-ERR".length)
    .trim()
    .replaceAll(/^'+|'+$/g, "");
  const isOfRights = said.toLowerCase().startsWith("permissions violation");
  return new Error(isOfRights ? `nats: permissions violation: ${said}` : `nats: ${said}`);
}

interface Lines {
  /** The next line, without its end. Throws if the connection ends before. */
  next(): Promise<string>;
  /** Reads no further, so that another reader may. */
  stop(): void;
}

function linesOf(socket: Duplex): Lines {
  let text = "";
  let fault = socket.destroyed || socket.readableEnded ? new Error("EOF") : undefined;
  let wake = (): void => undefined;
  const onData = (chunk: Buffer): void => {
    text += chunk.toString("latin1");
    if (text.length > maxLineBytes) socket.destroy(new Error("nats: protocol exception, the line is too long"));
    wake();
  };
  const onEnd = (): void => {
    fault ??= new Error("EOF");
    wake();
  };
  socket.on("data", onData);
  socket.on("end", onEnd);
  socket.on("close", onEnd);
  socket.on("error", (error: Error) => {
    fault ??= error;
    wake();
  });
  return {
    async next() {
      for (;;) {
        const end = text.indexOf("\n");
        if (end !== -1) {
          const line = Buffer.from(text.slice(0, end).replace(/\r$/, ""), "latin1").toString();
          text = text.slice(end + 1);
          return line;
        }
        if (fault !== undefined) throw fault;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    stop() {
      socket.off("data", onData);
      socket.off("end", onEnd);
      socket.off("close", onEnd);
    },
  };
}
