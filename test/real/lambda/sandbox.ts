import { spawnSync } from "node:child_process";

/** How the file system is kept read-only except for /tmp, as in Lambda. */
export type Sandbox = "mount namespace" | "permission model";

/**
 * The bundle and Node move below /mnt first, since they may lie in /tmp, which becomes an empty one of its own. Its size is
 * Lambda's default. Arguments: the bundle's folder, the Node program, and what Node is called with.
 */
const script = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mkdir /mnt/task && touch /mnt/node
mount --bind "$1" /mnt/task && mount -o remount,bind,ro /mnt/task
mount --bind "$2" /mnt/node
mount -o remount,ro /mnt
mount -o remount,bind,ro /
mount -t tmpfs -o size=512m tmpfs /tmp
cd /mnt/task
shift 2
exec /mnt/node "$@"
`;

const unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sandbox"] as const;

export interface Confined {
  readonly sandbox: Sandbox;
  readonly command: string;
  readonly args: readonly string[];
  /** Where the process sees the bundle. */
  readonly taskRoot: string;
}

/** The command that runs a bundle's loop: in a mount namespace or, if the machine allows none, under Node's permission model. */
export function confine(folder: string, nodeFlags: readonly string[], sandbox: Sandbox = sandboxes()[0]): Confined {
  const [command, ...args] = unshare;
  switch (sandbox) {
    case "mount namespace":
      return {
        sandbox,
        command,
        args: [...args, folder, process.execPath, ...nodeFlags, "bootstrap.mjs"],
        taskRoot: "/mnt/task",
      };
    case "permission model": {
      const allowed = [
        "--permission",
        "--allow-fs-read=*",
        "--allow-fs-write=/tmp/*",
        "--allow-worker",
        "--allow-child-process",
      ];
      const flags = [...nodeFlags, ...allowed, `${folder}/bootstrap.mjs`];
      return { sandbox, command: process.execPath, args: flags, taskRoot: folder };
    }
  }
}

/** The sandboxes that this machine allows, the best first; some machines forbid namespaces. */
export function sandboxes(): readonly [Sandbox, ...Sandbox[]] {
  const [command, ...args] = unshare;
  const { status } = spawnSync(command, [...args, "/usr", process.execPath, "--version"], { stdio: "ignore" });
  return status === 0 ? ["mount namespace", "permission model"] : ["permission model"];
}
