import type { Session } from "../../../cli/session.ts";
import { terminal } from "../../../cli/terminal.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { ListQuery, Patch, WatchEvent } from "../../../lib/core/ports/cluster.ts";

/** The cluster and the terminal of one command, with everything that it printed. */
export interface FakeSession extends Session {
  readonly output: { out: string; err: string };
  /** Every object that was patched, as `Kind/name`. */
  readonly patched: string[];
}

/**
 * A session on objects in memory. `react` plays Sluice: it answers what becomes of an object that was patched.
 */
export function fakeSession(
  objects: readonly LiveObject[],
  react: (object: LiveObject) => LiveObject = (object) => object,
  signal: AbortSignal = new AbortController().signal,
): FakeSession {
  const output = { out: "", err: "" };
  const patched: string[] = [];
  const stored = [...objects];
  const changed = new EventTarget();
  const unused = () => Promise.reject(new Error("no command does this"));
  const find = (query: ListQuery) => stored.filter((object) => matches(object, query));
  return {
    output,
    patched,
    namespace: "flux-system",
    serverVersion: () => Promise.resolve("v1.35.4"),
    isAllowed: () => Promise.resolve(true),
    isNamespaceGiven: false,
    signal,
    terminal: terminal(
      (text) => {
        output.out += text;
      },
      (text) => {
        output.err += text;
      },
    ),
    cluster: {
      uid: unused,
      resource: unused,
      served: unused,
      apply: unused,
      create: unused,
      delete: unused,
      listMetadata: unused,
      list: (query) => Promise.resolve(find(query)),
      get: ({ kind, namespace, name }) =>
        Promise.resolve(find({ group: "", version: "", kind, namespace, fieldSelector: `metadata.name=${name}` })[0]),
      patch(ref, patch, { manager }) {
        const at = stored.findIndex(
          ({ kind, metadata }) =>
            kind === ref.kind && metadata.name === ref.name && metadata.namespace === ref.namespace,
        );
        const before = stored[at];
        if (before === undefined || manager !== "flux") return Promise.reject(new Error("cannot be patched"));
        const after = merged(before, patch);
        patched.push(`${ref.kind}/${ref.name}`);
        stored[at] = react(after);
        changed.dispatchEvent(new Event("change"));
        return Promise.resolve(after);
      },
      async *watch(query, stop): AsyncGenerator<WatchEvent, never> {
        for (;;) {
          for (const object of find(query)) yield { type: "MODIFIED", object };
          await new Promise<void>((resolve, reject) => {
            changed.addEventListener("change", () => resolve(), { once: true });
            stop.addEventListener("abort", () => reject(stop.reason), { once: true });
            if (stop.aborted) reject(stop.reason);
          });
        }
      },
    },
  };
}

function matches({ kind, metadata, involvedObject }: LiveObject, query: ListQuery): boolean {
  if (kind !== query.kind) return false;
  if (query.namespace !== undefined && metadata.namespace !== query.namespace) return false;
  const isLabelled = (query.labelSelector ?? "").split(",").every((term) => {
    const [label = "", value] = term.split("=");
    return label === "" || metadata.labels?.[label] === value;
  });
  if (!isLabelled) return false;
  return (query.fieldSelector ?? "").split(",").every((term) => {
    const [field = "", value] = term.split("=");
    if (field === "") return true;
    const about = isJsonObject(involvedObject) ? involvedObject : {};
    return (field === "metadata.name" ? metadata.name : about[field.replace("involvedObject.", "")]) === value;
  });
}

function merged(object: LiveObject, { body }: Patch): LiveObject {
  const { spec, metadata } = isJsonObject(body) ? body : {};
  const asked = isJsonObject(metadata) && isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const annotations: Record<string, string> = {};
  for (const [key, value] of Object.entries(asked)) if (typeof value === "string") annotations[key] = value;
  const generation = (object.metadata.generation ?? 1) + (isJsonObject(spec) ? 1 : 0);
  return {
    ...object,
    spec: { ...objectOf(object["spec"]), ...objectOf(spec) },
    metadata: { ...object.metadata, generation, annotations: { ...object.metadata.annotations, ...annotations } },
  };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
