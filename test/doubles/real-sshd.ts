import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onFreePorts } from "../real/free-ports.ts";

const run = promisify(execFile);
const installed = "/usr/sbin/sshd";
/** The server, and what it is linked with that few machines have without it. */
const packages = ["openssh-server", "libwrap0", "libnsl2", "libtirpc3", "libwtmpdb0"];

/** The paths of OpenSSH's server, and of its libraries that are not the system's. */
interface Program {
  readonly sshd: string;
  readonly libraries: string | undefined;
}

/**
 * The system's sshd, or Debian's, unpacked into a folder of its own without being installed; undefined if there is neither.
 * `ssh-keygen` and `git` come with every machine that checks out this repository by ssh.
 */
export async function findSshd(): Promise<Program | undefined> {
  if (existsSync(installed)) return { sshd: installed, libraries: undefined };
  const folder = join(tmpdir(), "sluice-openssh");
  const sshd = join(folder, "unpacked/usr/sbin/sshd");
  if (!existsSync(sshd)) {
    await mkdir(folder, { recursive: true });
    for (const name of packages) {
      // Some of them exist in some releases only; without the server itself there is no sshd in the end.
      await run("apt-get", ["download", name], { cwd: folder }).catch(() => undefined);
    }
    for (const file of (await readdir(folder)).filter((name) => name.endsWith(".deb"))) {
      await run("dpkg", ["-x", file, "unpacked"], { cwd: folder });
    }
  }
  if (!existsSync(sshd)) return undefined;
  const libraries = (await readdir(join(folder, "unpacked/usr/lib"))).map((name) =>
    join(folder, "unpacked/usr/lib", name),
  );
  return { sshd, libraries: libraries.join(":") };
}

export interface SshdOptions {
  /** Of `ssh-keygen -t`. */
  readonly hostKeys: readonly ("ecdsa" | "ed25519" | "rsa")[];
  /** A line for each key that may log in. */
  readonly authorizedKeys: string;
  /** Further lines of `sshd_config`. */
  readonly settings?: readonly string[];
}

/** OpenSSH's server on loopback, for the user of this process. */
export async function realSshd(program: Program, { authorizedKeys, hostKeys, settings = [] }: SshdOptions) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-sshd-"));
  const files = hostKeys.map((type) => join(folder, `host-${type}`));
  for (const [index, type] of hostKeys.entries()) {
    await run("ssh-keygen", ["-q", "-t", type, "-N", "", "-f", files[index] ?? ""]);
  }
  await writeFile(join(folder, "authorized_keys"), authorizedKeys, { mode: 0o600 });
  const lines = [
    "ListenAddress 127.0.0.1",
    `PidFile ${join(folder, "pid")}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    "StrictModes no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "PermitRootLogin prohibit-password",
    ...files.map((file) => `HostKey ${file}`),
    ...settings,
  ];
  // The folder into which it locks itself, where it runs as root.
  if (userInfo().uid === 0) await mkdir("/run/sshd", { recursive: true });
  const { server, port, log } = await onFreePorts(1, async ([one = 0]) => ({
    ...(await start(program, folder, [`Port ${one}`, ...lines])),
    port: one,
  }));
  const publicKeys = await Promise.all(files.map((file) => readFile(`${file}.pub`, "utf8")));
  return {
    port,
    user: userInfo().username,
    /** Lines of known_hosts, one for each key. */
    knownHosts: publicKeys.map((key) => `[127.0.0.1]:${port} ${key}`),
    folder,
    log,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts it with this configuration, and waits until it listens. */
async function start({ sshd, libraries }: Program, folder: string, configuration: readonly string[]) {
  await writeFile(join(folder, "config"), `${configuration.join("\n")}\n`);
  const env = libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries };
  const [command = "", ...args] = [
    ...(await withSeparateUser(folder)),
    ...[sshd, "-D", "-e", "-f", join(folder, "config")],
  ];
  const server = spawn(command, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const listening = Promise.withResolvers<void>();
  server.stderr.on("data", (bytes: Buffer) => {
    log += bytes.toString();
    if (log.includes("Server listening")) listening.resolve();
  });
  // All that it says has come then.
  server.once("close", () => listening.reject(new Error(`sshd does not start: ${log}`)));
  await listening.promise;
  return { server, log: () => log };
}

/**
 * Run as root, the server wants the user `sshd`, which a machine has only if the package was installed. Elsewhere the server alone sees
 * a list of users that has one: the words that its command begins with then.
 */
async function withSeparateUser(folder: string): Promise<readonly string[]> {
  const users = await readFile("/etc/passwd", "utf8");
  if (userInfo().uid !== 0 || /^sshd:/m.test(users)) return [];
  const file = join(folder, "passwd");
  await writeFile(file, `${users.trimEnd()}\nsshd:x:74:65534::/run/sshd:/usr/sbin/nologin\n`);
  return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', file];
}
