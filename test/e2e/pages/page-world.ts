import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { withinDeadline } from "../../deadline.ts";
import { terminals } from "../../doubles/terminal.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";

/** A Sluice that runs in this process, and a terminal beside it, into which the commands of our pages are typed. */
export interface PageWorld extends AsyncDisposable {
  readonly sluice: CliWorld;
  /** The home and the working directory of the terminal. */
  readonly folder: string;
  /** Runs a script to its end, and answers what it prints. Throws an error if one of its commands fails. */
  type(script: string): Promise<string>;
  /** Opens another terminal for a script, and answers what it has printed. */
  open(script: string): () => string;
  /** Repeats a script that only reads until it prints this. */
  typeUntil(script: string, shown: RegExp): Promise<string>;
  apply(yaml: string): Promise<void>;
}

/** @param programs on the PATH besides `sluice` and `kubectl`: files by their names */
export async function pageWorld(programs: Readonly<Record<string, string>> = {}): Promise<PageWorld> {
  await using made = new AsyncDisposableStack();
  const sluice = await cliWorld();
  made.defer(() => sluice.close());
  const { folder, kubeconfig } = sluice;
  const typed = made.use(await terminals(folder, programs));
  const onCluster = (script: string) => `export KUBECONFIG=${kubeconfig}\n${script}`;
  const type = (script: string) => typed.run(folder, onCluster(script));
  const kept = made.move();
  return {
    ...{ sluice, folder, type },
    open: (script) => typed.open(folder, onCluster(script)),
    typeUntil: (script, shown) =>
      vi.waitFor(
        async () => {
          const text = await type(script);
          if (!shown.test(text)) throw new Error(`${script} does not show ${String(shown)}: ${text}`);
          return text;
        },
        { ...withinDeadline, interval: 200 },
      ),
    async apply(yaml) {
      await type(`kubectl apply -f - <<'YAML'\n${yaml}\nYAML`);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Puts what the test has in place of what the page names. Throws an error if the text does not have it. */
export function replaced(text: string, values: Readonly<Record<string, string>>): string {
  let now = text;
  for (const [before, after] of Object.entries(values)) {
    if (!now.includes(before)) throw new Error(`not in the commands of the page: ${before}`);
    now = now.replaceAll(before, after);
  }
  return now;
}

/** A program `aws` that runs the installed command line of AWS. @param installed its folder, SLUICE_REAL_AWS_CLI */
export async function awsProgram(folder: string, installed: string): Promise<string> {
  const program = join(folder, "aws");
  await writeFile(program, `#!/bin/sh\nexec "${installed}/bin/python3" -m awscli "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

/** The lines by which a terminal uses a moto as its account of AWS. */
export function pageAccount(moto: string): string {
  return `export AWS_ENDPOINT_URL=${moto} AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1
export AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=y AWS_PAGER=`;
}
