import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** What `npm run demo` printed with these arguments, and its exit code. */
export interface EndedDemo {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Plays a story of the demo to its end, in a process of its own. */
export async function demo(...args: readonly string[]): Promise<EndedDemo> {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../local/demo/main.ts"), ...args], { stdio });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, out, err };
}
