import { generateKeyPairSync } from "node:crypto";
import { createServer, type Socket } from "node:net";
import ssh, { type ParsedKey, type ServerChannel } from "ssh2";
import { parseSshKey } from "../../lib/sources/git/ssh-key.ts";
import { portOnLoopback } from "./port-on-loopback.ts";

/** A new key for a host or a user. */
export async function newSshKey(): Promise<ParsedKey> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return parseSshKey(privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "");
}

/** Runs a command that the server accepts. */
export type RunCommand = (command: string, channel: ServerChannel, env: ReadonlyMap<string, string>) => void;

export interface SshServerOptions {
  readonly hostKey: ParsedKey;
  /** The only one that may log in, unless `knows` says others. */
  readonly user: { readonly name: string; readonly key: ParsedKey };
  /** Whether a user with this public key may log in. */
  readonly knows?: (publicKey: Buffer) => boolean;
  readonly run?: RunCommand | undefined;
  /** Takes the connection, and never says a word. */
  readonly isSilent?: boolean;
}

/** A server of SSH on loopback that does as it is told, also what no honest server does. */
export async function sshServer({ hostKey, isSilent = false, knows, run, user }: SshServerOptions) {
  const sockets = new Set<Socket>();
  const server = new ssh.Server({ hostKeys: [hostKey.getPrivatePEM()] }, (client) => {
    client.on("error", () => client.end());
    client.on("authentication", (login) => {
      const keyOf = ({ algo, data }: { algo: string; data: Buffer }): ParsedKey | undefined => {
        if (knows === undefined) return data.equals(user.key.getPublicSSH()) ? user.key : undefined;
        const parsed = knows(data) ? ssh.utils.parseKey(`${algo} ${data.toString("base64")}`) : undefined;
        return parsed instanceof Error || Array.isArray(parsed) ? undefined : parsed;
      };
      const key = login.method === "publickey" && login.username === user.name ? keyOf(login.key) : undefined;
      const isKnown =
        login.method === "publickey" &&
        key !== undefined &&
        (login.signature === undefined || login.blob === undefined
          ? true
          : key.verify(login.blob, login.signature, login.hashAlgo) === true);
      if (isKnown) login.accept();
      else login.reject(["publickey"]);
    });
    client.on("session", (accept) => {
      const session = accept();
      const env = new Map<string, string>();
      session.on("env", (acceptEnv, _reject, { key, val }) => {
        env.set(key, val);
        (acceptEnv as (() => void) | undefined)?.();
      });
      session.on("exec", (acceptExec, reject, { command }) => {
        if (run === undefined) reject();
        else run(command, acceptExec(), env);
      });
    });
  });
  const listener = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
    if (isSilent) socket.resume();
    else server.injectSocket(socket);
  });
  const port = await portOnLoopback(listener);
  return {
    port,
    /** A line of known_hosts. */
    knownHosts: `[127.0.0.1]:${port} ${hostKey.type} ${hostKey.getPublicSSH().toString("base64")}\n`,
    connections: () => sockets.size,
    breakConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      listener.close(() => closed.resolve());
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}
