import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const demo = join(import.meta.dirname, "../../../local/demo/main.ts");

/** Plays the demo to its end, as `npm run demo` does; an abort of the signal is a SIGTERM for it. */
export async function playDemo(
  kubeconfig: string,
  signal: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  // Without the variable the output has colours where the tests run in a terminal.
  const env = { ...process.env, NO_COLOR: "1" };
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
  const playing = spawn(process.execPath, [demo, "--kubeconfig", kubeconfig], { env, stdio });
  const stop = (): boolean => playing.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const [output] = await Promise.all([text(playing.stdout), once(playing, "exit")]);
    return { code: playing.exitCode, output };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
