import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, open, readFile } from "node:fs/promises";
import { vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
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
    await vi.waitUntil(async () => (await cluster.resource(kind, signal)) !== undefined, { timeout: deadlineMs });
  }
}

export interface FlaggerOptions extends BuiltFlagger {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** For its log. */
  readonly log: string;
}

const maxStarts = 3;

/** Runs Flagger as a process with its default flags, for the Canaries of one namespace. Ends at once where it cannot become ready. */
export async function startFlagger({
  program,
  kubeconfig,
  namespace,
  log: path,
}: FlaggerOptions): Promise<AsyncDisposable> {
  for (let starts = 1; starts <= maxStarts; starts++) {
    await using log = await open(path, "a");
    // A port that was free may be taken before Flagger listens.
    const [port = 0] = await freePorts(1);
    const args = [`-kubeconfig=${kubeconfig}`, `-namespace=${namespace}`, `-port=${port}`, "-mesh-provider=kubernetes"];
    const child = spawn(program, args, { env: {}, stdio: ["ignore", log.fd, log.fd] });
    await once(child, "spawn");
    const ended = once(child, "exit");
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const isReady = async (): Promise<boolean> => (await ask(`http://127.0.0.1:${port}/healthz`))?.status === 200;
    await vi.waitUntil(async () => hasEnded() || (await isReady()), { timeout: deadlineMs, interval: 100 });
    if (hasEnded()) continue;
    return {
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        await ended;
      },
    };
  }
  throw new Error(`Flagger has not become ready; the end of its log:\n${await logTail(path)}`);
}
