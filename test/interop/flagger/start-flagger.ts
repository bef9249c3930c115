import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, open, readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { ask } from "../../real/ask.ts";
import { freePorts } from "../../real/free-ports.ts";
import { logTail } from "../../real/log-tail.ts";

/** Flagger, if the environment names a build of it; otherwise undefined. */
export interface BuiltFlagger {
  readonly program: string;
  /** The file of its custom resource definitions. */
  readonly crds: string;
}

export async function builtFlagger(): Promise<BuiltFlagger | undefined> {
  const [program = "", crds = ""] = [process.env["SLUICE_FLAGGER"], process.env["SLUICE_FLAGGER_CRDS"]];
  if (program === "" || crds === "") return undefined;
  await Promise.all([access(program), access(crds)]);
  return { program, crds };
}

const Definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal("CustomResourceDefinition"),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ kind: z.string() }),
    versions: z.tuple([z.looseObject({ name: z.string() })], z.looseObject({})),
  }),
});

/** Installs Flagger's definitions, and returns once they are served. */
export async function installFlaggerDefinitions(crds: string, cluster: Cluster, signal: AbortSignal): Promise<void> {
  // Go's parser takes the lines of a quoted text that are indented as far as its key, and no other does.
  const text = (await readFile(crds, "utf8")).replaceAll(/description: '(?:[^']|'')*'/g, (one) =>
    one.replaceAll(/\n\s*/g, " "),
  );
  const documents = parseAllDocuments(text);
  const definitions = documents.map((document) => Definition.parse(document.toJS()));
  for (const one of definitions) await cluster.apply(one, { manager: "bench", force: true }, signal);
  for (const { spec } of definitions) {
    const kind = { group: spec.group, version: spec.versions[0].name, kind: spec.names.kind };
    await until(`the cluster to serve ${kind.kind}`, async () => (await cluster.resource(kind, signal)) !== undefined);
  }
}

export interface FlaggerOptions extends BuiltFlagger {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** For its log. */
  readonly log: string;
  /** Further flags; all others have their defaults. */
  readonly flags?: readonly string[];
}

/** Flagger as a process of its own. Its end is that of a Deployment that is scaled to 0. */
export interface RunningFlagger extends AsyncDisposable {
  readonly pid: number;
}

const maxStarts = 3;
const pollMs = 100;

/** Runs Flagger as a process for the Canaries of one namespace. Ends at once where it cannot become ready. */
export async function startFlagger({
  program,
  kubeconfig,
  namespace,
  log: path,
  flags = [],
}: FlaggerOptions): Promise<RunningFlagger> {
  for (let starts = 1; starts <= maxStarts; starts++) {
    await using log = await open(path, "a");
    // A port that was free may be taken before Flagger listens.
    const [port = 0] = await freePorts(1);
    const args = [`-kubeconfig=${kubeconfig}`, `-namespace=${namespace}`, `-port=${port}`, ...flags];
    const child = spawn(program, args, { env: {}, stdio: ["ignore", log.fd, log.fd] });
    await once(child, "spawn");
    const ended = once(child, "exit");
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const isReady = async (): Promise<boolean> => (await ask(`http://127.0.0.1:${port}/healthz`))?.status === 200;
    await until("Flagger to become ready", async () => hasEnded() || (await isReady()));
    if (hasEnded()) continue;
    return {
      pid: child.pid ?? 0,
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error(`Flagger has not become ready; the end of its log:\n${await logTail(path)}`);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs);
  while (!(await isSo())) {
    if (signal.aborted) throw new Error(`waited ${deadlineMs / 1_000} s for ${what}`);
    await systemClock.sleep(pollMs, new AbortController().signal);
  }
}
