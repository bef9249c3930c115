import type { Algorithms, Client, KexAlgorithm, PublicKeyAuthMethod, ServerHostKeyAlgorithm } from "ssh2";
import { messageOf } from "../../core/failure.ts";
import { type Dial, DialError, type Proxy } from "../../core/ports/dial.ts";
import { GitFault } from "./git-fault.ts";
import type { GitService, GitTransport } from "./git-transport.ts";
import type { HostKeys } from "./known-hosts.ts";
import { type SshAddress, serviceCommand, sshAddress } from "./ssh-address.ts";
import { openChannel, type SshChannel } from "./ssh-channel.ts";
import type { SshKey } from "./ssh-key.ts";

/**
 * Without the group exchange (RFC 4419): there the server chooses the prime before its key is checked, and computing with one of
 * 20,000 bits keeps the process for minutes.
 */
type SafeKex = Exclude<KexAlgorithm, `diffie-hellman-group-exchange-${string}`>;

/** Algorithms in the order of preference, for an installation that has to name its own. */
export interface SshAlgorithms {
  readonly kex?: readonly SafeKex[];
  readonly hostKey?: readonly ServerHostKeyAlgorithm[];
}

export interface SshAccess {
  /** Default `git-upload-pack`. */
  readonly service?: GitService;
  /** `ssh://[user@]host[:port]/path`. */
  readonly url: URL;
  readonly key: SshKey;
  readonly hostKeys: HostKeys;
  readonly proxy?: Proxy | undefined;
  readonly algorithms?: SshAlgorithms;
}

/** The time limit of the key exchange and the login; `signal` may end them earlier. */
const handshakeMs = 30_000;

/** What Go's client offers (golang.org/x/crypto/ssh, `common.go`), as far as ssh2 knows it and a server cannot make it costly. */
const offered: Algorithms & { readonly kex: SafeKex[] } = {
  kex: [
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group14-sha256",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group14-sha1",
  ],
  cipher: [
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
  ],
  hmac: [
    "hmac-sha2-256-etm@openssh.com",
    "hmac-sha2-512-etm@openssh.com",
    "hmac-sha2-256",
    "hmac-sha2-512",
    "hmac-sha1",
  ],
  compress: ["none"],
};

/** The algorithms that prove a key of each type. RSA with SHA-2 comes before RSA with SHA-1, as in Flux. */
const hostKeyAlgorithms: readonly (readonly [string, readonly ServerHostKeyAlgorithm[]])[] = [
  ["ssh-ed25519", ["ssh-ed25519"]],
  ["ecdsa-sha2-nistp256", ["ecdsa-sha2-nistp256"]],
  ["ecdsa-sha2-nistp384", ["ecdsa-sha2-nistp384"]],
  ["ecdsa-sha2-nistp521", ["ecdsa-sha2-nistp521"]],
  ["ssh-rsa", ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]],
];

/**
 * The way to a repository over ssh. One connection, opened on demand, with a channel for each conversation; dispose closes it, and so
 * does an abort.
 */
export function sshTransport(access: SshAccess, dial: Dial): GitTransport {
  const { host, pathname, protocol } = access.url;
  const { service = "git-upload-pack" } = access;
  let connected: Promise<Client> | undefined;
  let channel: SshChannel | undefined;
  return {
    url: `${protocol}//${host}${pathname}`,
    isStateless: false,
    async greet(signal) {
      const address = sshAddress(access.url);
      channel?.end();
      const client = await (connected ??= connect(address, access, dial, signal));
      channel = await openChannel(client, { service, command: serviceCommand(service, address) }, signal);
      return channel;
    },
    async send(request, _version, signal) {
      if (channel === undefined) throw new Error("nothing is sent before the server was greeted");
      await channel.write(request, signal);
      return channel;
    },
    async [Symbol.asyncDispose]() {
      channel?.end();
      const client = await connected?.catch(() => undefined);
      client?.destroy();
    },
  };
}

/** Throws a {@link GitFault}. The host's key is checked before anything is sent that proves who we are. */
async function connect(
  { host, port, user }: SshAddress,
  { algorithms = {}, hostKeys, key, proxy }: SshAccess,
  dial: Dial,
  signal: AbortSignal,
): Promise<Client> {
  const serverHostKey = algorithms.hostKey ?? algorithmsFor(hostKeys.types);
  // Before the socket is there: its errors have no listener until the client has it.
  const { default: ssh } = await import("ssh2");
  const socket = await dial({ host, port, proxy }, signal).catch((error: unknown) => {
    if (!(error instanceof DialError)) throw error;
    const reason = error.reason === "proxy" ? "unreachable" : error.reason;
    throw new GitFault(reason, error.message, { cause: error });
  });
  const client = new ssh.Client();
  const login: PublicKeyAuthMethod = { type: "publickey", username: user, key };
  const ready = Promise.withResolvers<Client>();
  let refused: string | undefined;
  const abort = (): void => {
    ready.reject(signal.reason);
    socket.destroy();
  };
  // Stays for as long as the connection: an error without a listener would end the process.
  client.on("error", (error) => ready.reject(handshakeFault(error, refused)));
  client.once("close", () => ready.reject(handshakeFault(new Error("EOF"), refused)));
  client.once("ready", () => ready.resolve(client));
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    client.connect({
      sock: socket,
      username: user,
      readyTimeout: handshakeMs,
      algorithms: { ...offered, kex: [...(algorithms.kex ?? offered.kex)], serverHostKey: [...serverHostKey] },
      authHandler: [login],
      hostVerifier: (shown: Buffer) => {
        refused = hostKeys.fault(shown);
        return refused === undefined;
      },
    });
    return await ready.promise;
  } catch (error) {
    client.destroy();
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function algorithmsFor(types: readonly string[]): readonly ServerHostKeyAlgorithm[] {
  // An unknown host shows what it has, and is refused then.
  const known = hostKeyAlgorithms.filter(([type]) => types.length === 0 || types.includes(type));
  if (known.length > 0) return known.flatMap(([, algorithms]) => algorithms);
  throw new GitFault(
    "host-key",
    `the host's keys in known_hosts are of types that are not supported: ${types.join(", ")}`,
  );
}

/** Why there is no connection, in Go's words and without those of the server. `refused`: why its key was not taken. */
function handshakeFault(error: Error & { readonly level?: string }, refused: string | undefined): GitFault {
  const failed = "ssh: handshake failed: ";
  const told = (reason: GitFault["reason"], why: string): GitFault => new GitFault(reason, why, { cause: error });
  if (refused !== undefined) return told("host-key", failed + refused);
  const { level, message } = error;
  const missing = /no matching (.+?)(?: algorithm| format)?$/.exec(message)?.[1];
  if (level === "handshake" && missing !== undefined) {
    return told(missing === "host key" ? "host-key" : "protocol", `${failed}ssh: no common algorithm for ${missing}`);
  }
  if (level === "client-authentication") {
    const tried = "attempted methods [none publickey], no supported methods remain";
    return told("authentication", `${failed}ssh: unable to authenticate, ${tried}`);
  }
  if (level === "client-timeout") return told("timeout", `${failed}no answer within ${handshakeMs} ms`);
  if (level === "client-socket") return told("unreachable", failed + messageOf(error));
  return told("protocol", `${failed}EOF`);
}
