import { createPublicKey, verify } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import { DialError } from "../../../lib/core/ports/dial.ts";
import { natsKey } from "../../../lib/notify/nats-key.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { nats } from "../../../lib/notify/providers/nats.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { recordedSteps } from "./recorded-deliveries.ts";
import { recordingParts, settingsOf } from "./recording-http.ts";

/** The example of NATS' documentation. */
const seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
const publicKey = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
const nonce = "PnTsRk0pLVA4fw4";
const credentials = `-----BEGIN NATS USER JWT-----
golden-jwt
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;

interface Received {
  connect?: Record<string, unknown>;
  publish?: string;
  payload?: string;
}

interface Habits {
  readonly info?: object;
  /** Answers to the `PING` after `CONNECT`, and to the one after `PUB`. If that is empty, it ends the connection. */
  readonly afterConnect?: string;
  readonly afterPublish?: string;
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A server of NATS for one test, which keeps what it is sent. */
async function natsServer({ info = {}, afterConnect = "PONG\r\n", afterPublish = "PONG\r\n" }: Habits = {}) {
  const received: Received = {};
  const raw: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => socket.destroy()));
    socket.write(`INFO ${JSON.stringify({ nonce, headers: true, max_payload: 1_048_576, ...info })}\r\n`);
    socket.on("data", (chunk: Buffer) => {
      raw.push(chunk);
      const text = Buffer.concat(raw).toString();
      const [, options, rest = ""] = /^CONNECT (.*)\r\nPING\r\n([^]*)$/.exec(text) ?? [];
      if (options === undefined) return;
      if (received.connect === undefined) {
        received.connect = JSON.parse(options);
        socket.write(afterConnect);
      }
      const [, publish, payload] = /^(PUB \S+) \d+\r\n([^]*)\r\nPING\r\n$/.exec(rest) ?? [];
      if (publish === undefined || payload === undefined) return;
      Object.assign(received, { publish, payload });
      if (afterPublish === "") socket.destroy();
      else socket.write(afterPublish);
    });
  });
  const port = await portOnLoopback(server);
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { address: `nats://127.0.0.1:${port}`, received, raw };
}

async function publish(
  settings: Partial<ProviderSettings>,
  event: NotificationEvent = eventOf("info"),
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const dial = async ({ host, port }: { readonly host: string; readonly port: number }) => {
    const socket = connect(port, host);
    closing.push(async () => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  try {
    const made = nats(settingsOf({ type: "nats", channel: "golden.subject", ...settings }), {
      ...recordingParts(),
      dial,
    });
    await made.post(event, signal);
  } catch (error) {
    return messageOf(error);
  }
  return "";
}

const steps = recordedSteps("notify-nats");

function eventOf(name: string): NotificationEvent {
  const event = steps.find(({ step }) => step === name)?.events[0];
  if (event === undefined) throw new Error(`the recording has no step ${name}`);
  return event;
}

describe("a Provider of type nats sends, as recorded from Flux,", () => {
  const login = { username: "golden", password: "golden-password" };
  const settings: Readonly<Record<string, Partial<ProviderSettings>>> = {
    login,
    nkey: { ...login, secret: { nkey: seed } },
    creds: { secret: { nkey: seed, creds: credentials } },
    token: { token: "golden-token" },
  };
  const sending = steps.filter(({ deliveries }) => deliveries.length > 0);

  test.each(sending)("the message of $step", async ({ step, events, deliveries }) => {
    const { address, received } = await natsServer();
    for (const event of events) expect(await publish({ address, ...settings[step] }, event)).toBe("");
    const [{ connect: options = {} } = {}, message] = deliveries;
    const signed = expect.stringMatching(/^[\w-]{86}$/);
    expect(received.connect).toEqual({
      ...options,
      ...{ lang: "node", version: expect.any(String) },
      ...("sig" in options ? { sig: signed } : {}),
      ...("nkey" in options ? { nkey: publicKey } : {}),
    });
    expect(Object.keys(received.connect ?? {})).toEqual(Object.keys(options));
    expect(received).toMatchObject({ publish: message?.publish, payload: message?.raw });
  });

  test("the failures of failures", async () => {
    const dial = async () => {
      throw new DialError("unreachable", "dial tcp 127.0.0.1:1: connect: connection refused");
    };
    const refused = settingsOf({ type: "nats", address: "nats://127.0.0.1:1", channel: "golden.subject" });
    await expect(
      nats(refused, { ...recordingParts(), dial }).post(eventOf("info"), new AbortController().signal),
    ).rejects.toThrow(
      "error publishing event to subject golden.subject: error connecting to server: nats: no servers available for connection",
    );
    expect(await publish({ address: "nats://127.0.0.1:1", channel: "" })).toBe(
      "NATS subject (channel) cannot be empty",
    );
    expect(await publish({})).toBe("NATS server (address) cannot be empty");
  });
});

describe("an nkey of NATS", () => {
  test("has the public form of NATS' documentation, and signs the nonce", () => {
    const key = natsKey(seed);
    expect(key.publicKey).toBe(publicKey);
    const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytesOfPublic(publicKey)]);
    const known = createPublicKey({ key: spki, format: "der", type: "spki" });
    expect(verify(null, Buffer.from(nonce), known, Buffer.from(key.sign(nonce), "base64url"))).toBe(true);
  });

  test.each([
    { what: "no seed", text: "golden", fault: "nkeys: invalid encoded key" },
    { what: "a public key", text: publicKey, fault: "nkeys: invalid encoded key" },
    { what: "a changed letter", text: seed.replace("CSSL", "CSSM"), fault: "nkeys: invalid checksum" },
  ])("is refused: $what", ({ text, fault }) => {
    expect(() => natsKey(text)).toThrow(fault);
  });
});

/** The 32 bytes between the prefix and the checksum. */
function bytesOfPublic(text: string): Buffer {
  const bits = Array.from(text, (letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  ).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).subarray(1, 33);
}

describe("a NATS message", () => {
  test("is not sent if the server rejects the login", async () => {
    const { address, received } = await natsServer({ afterConnect: "-ERR 'Authorization Violation'\r\n" });
    expect(await publish({ address })).toBe(
      "error publishing event to subject golden.subject: error connecting to server: nats: Authorization Violation",
    );
    expect(received.publish).toBeUndefined();
  });

  test("fails if the server refuses the subject", async () => {
    const said = `Permissions Violation for Publish to "golden.subject"`;
    const { address } = await natsServer({ afterPublish: `-ERR '${said}'\r\nPONG\r\n` });
    expect(await publish({ address })).toBe(
      `error publishing event to subject golden.subject: error publishing message to server: nats: permissions violation: ${said}`,
    );
  });

  test("fails if the connection closes before the server has read it", async () => {
    const { address } = await natsServer({ afterPublish: "" });
    const said = await publish({ address: address.replace("nats://", "") });
    expect(said).toBe("error publishing event to subject golden.subject: error publishing message to server: EOF");
  });

  test("is not sent if it is longer than the server accepts", async () => {
    const { address } = await natsServer({ info: { max_payload: 10 } });
    expect(await publish({ address })).toContain("error publishing message to server: nats: maximum payload exceeded");
  });

  test("is not sent to a subject with a space or a line feed", async () => {
    for (const channel of ["a b", "a\r\nPUB x"]) {
      expect(await publish({ address: "nats://127.0.0.1:1", channel })).toContain("nats: invalid subject");
    }
  });

  test.each(["ws://127.0.0.1:1", "nats://[::1", "http://127.0.0.1:1"])("is not sent to %s", async (address) => {
    expect(await publish({ address })).toContain("error connecting to server: nats: invalid URL");
  });

  test("goes to the next server if the first does not answer", async () => {
    const { address, received } = await natsServer();
    const silent = createServer((socket) => socket.destroy());
    const port = await portOnLoopback(silent);
    closing.push(async () => void (await new Promise((resolve) => silent.close(resolve))));
    expect(await publish({ address: `nats://127.0.0.1:${port}, ${address}` })).toBe("");
    expect(received.publish).toBe("PUB golden.subject");
  });

  test("logs in with the credentials in the address", async () => {
    const { address, received } = await natsServer();
    await publish({ address: address.replace("//", "//u:p%40@"), username: "golden", password: "golden-password" });
    expect(received.connect).toMatchObject({ user: "u", pass: "p@" });
    const other = await natsServer();
    await publish({ address: other.address.replace("//", "//t@") });
    expect(other.received.connect).toMatchObject({ auth_token: "t" });
  });

  test("sends no login before TLS, if the server requires TLS", async () => {
    const { address, received, raw } = await natsServer({ info: { tls_required: true } });
    const deadline = new AbortController();
    const sent = publish(
      { address, username: "golden", password: "golden-password" },
      eventOf("info"),
      deadline.signal,
    );
    await expect.poll(() => raw.length).toBeGreaterThan(0);
    deadline.abort(new DOMException("15 s are over", "TimeoutError"));
    expect(await sent).toContain("error connecting to server: context deadline exceeded");
    // A handshake record.
    expect(raw[0]?.[0]).toBe(0x16);
    expect(received.connect).toBeUndefined();
  });

  test("is not sent over TLS if the certificate is untrusted", async () => {
    const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
    const server = createServer((socket) => {
      socket.write('INFO {"tls_required":true}\r\n');
      new TLSSocket(socket, { isServer: true, cert, key }).on("error", () => socket.destroy());
    });
    const port = await portOnLoopback(server);
    closing.push(async () => void (await new Promise((resolve) => server.close(resolve))));
    expect(await publish({ address: `nats://127.0.0.1:${port}` })).toMatch(/error connecting to server: .*certificate/);
  });

  test("is not sent without TLS if the address requires it", async () => {
    const { address } = await natsServer();
    expect(await publish({ address: address.replace("nats:", "tls:") })).toContain(
      "error connecting to server: nats: secure connection not available",
    );
  });

  test.each([
    { what: "a key", secret: { nkey: "golden-key" }, fault: "error parsing nkey seed: nkeys: invalid encoded key" },
    {
      what: "credentials",
      secret: { creds: "golden-creds" },
      fault: "error connecting to server: error signing nonce: unable to extract key pair from bytes: nkeys: ",
    },
  ])("is not sent with $what that cannot be parsed, and nothing of it is shown", async ({ secret, fault }) => {
    const { address } = await natsServer();
    const said = await publish({ address, secret });
    expect(said).toContain(`error publishing event to subject golden.subject: ${fault}`);
    expect(said).not.toContain("golden-");
  });
});
