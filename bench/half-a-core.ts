import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const periodUs = 20_000;

/** A control group of Linux whose processes get half of a processor together, also where others compute. */
export interface HalfACore extends Disposable {
  /** The command that runs `command` in the group. */
  readonly run: (command: string, args: readonly string[]) => readonly [command: string, args: readonly string[]];
}

/** Undefined where this user may make no control group. A real-time priority (`chrt`) would escape the group: start without. */
export function halfACore(): HalfACore | undefined {
  const isFirstVersion = existsSync("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const group = join("/sys/fs/cgroup", isFirstVersion ? "cpu" : "", `sluice-bench-${process.pid}`);
  const settings = isFirstVersion
    ? { "cpu.cfs_period_us": periodUs, "cpu.cfs_quota_us": periodUs / 2, "cpu.shares": 262_144 }
    : { "cpu.max": `${periodUs / 2} ${periodUs}`, "cpu.weight": 10_000 };
  try {
    mkdirSync(group);
    for (const [file, value] of Object.entries(settings)) writeFileSync(join(group, file), String(value));
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
  const script = 'echo $$ > "$0" && exec "$@"';
  return {
    run: (command, args) => ["sh", ["-c", script, join(group, "cgroup.procs"), command, ...args]],
    [Symbol.dispose]: () => rmdirSync(group),
  };
}
