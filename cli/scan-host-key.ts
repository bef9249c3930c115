import { connect as connectTcp } from "node:net";
import { messageOf } from "../lib/core/failure.ts";
import { sshAddress } from "../lib/sources/git/ssh-address.ts";

const defaultPort = 22;

/**
 * The key that the host of an ssh URL shows now, as a line of `known_hosts`. Nothing vouches for it: the user has to
 * compare it with what the git host publishes.
 */
export async function scanHostKey(url: URL, signal: AbortSignal): Promise<string> {
  const { host: bracketed, port } = sshAddress(url);
  const host = bracketed.replace(/^\[|\]$/g, "");
  const { default: ssh } = await import("ssh2");
  const client = new ssh.Client();
  const shown = Promise.withResolvers<Buffer>();
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`the key of the SSH server ${bracketed}:${port} could not be collected: ${why}`, { cause });
  const socket = connectTcp({ host, port });
  const abort = (): void => shown.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  client.on("error", (error) => shown.reject(failed(messageOf(error), error)));
  client.once("close", () => shown.reject(failed("it closed the connection")));
  try {
    signal.throwIfAborted();
    client.connect({
      sock: socket,
      username: "git",
      hostVerifier: (key: Buffer) => {
        shown.resolve(Buffer.from(key));
        // Nothing more is wanted of it.
        return false;
      },
    });
    const key = await shown.promise;
    const type = key.subarray(4, 4 + key.readUInt32BE(0)).toString("latin1");
    const name = port === defaultPort ? host : `[${host}]:${port}`;
    return `${name} ${type} ${key.toString("base64")}\n`;
  } finally {
    signal.removeEventListener("abort", abort);
    client.destroy();
    socket.destroy();
  }
}
