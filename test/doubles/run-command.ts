import { Readable } from "node:stream";
import { run } from "../../cli/run.ts";
import { terminal } from "../../cli/terminal.ts";
import type { LocalOptions } from "../../local/start-local.ts";

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly env: Readonly<Record<string, string>>;
  /** The home and the working directory. */
  readonly folder: string;
  readonly input?: readonly string[];
  /** How the user answers questions on the terminal; undefined without a terminal. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  readonly kinds?: LocalOptions["kinds"];
}

/** Runs a command as its process would run it. */
export async function runCommand(
  args: readonly string[],
  { confirm, env, folder, input = [], kinds }: Running,
): Promise<Outcome> {
  let out = "";
  let err = "";
  const code = await run(
    args,
    {
      terminal: terminal(
        (text) => {
          out += text;
        },
        (text) => {
          err += text;
        },
        { columns: () => undefined, isScreen: false, confirm },
      ),
      env,
      homeDir: folder,
      cwd: folder,
      stdin: Readable.from(input.map((text) => Buffer.from(text))),
      signal: new AbortController().signal,
      onSignal: () => {},
      exit: () => {
        throw new Error("exit");
      },
    },
    kinds,
  );
  return { code, out, err };
}
