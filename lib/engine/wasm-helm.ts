import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { formatJson, type JsonObject, parseOwnJson } from "../core/json.ts";
import type { EngineLimits } from "../core/ports/engine.ts";
import {
  type HelmEngine,
  HelmEngineError,
  type Lookup,
  type ObservedRelease,
  type Prepared,
  type RenderedObject,
} from "../core/ports/helm-engine.ts";
import { type MessageEngine, MessageEngineError } from "../core/ports/message-engine.ts";
import type { Tenant } from "../core/tenant.ts";
import { keptHelmMiB, moduleMemoryMiB } from "./module-memory.ts";
import {
  framedRequest,
  isOutOfMemory,
  type ModuleAnswer,
  ModuleFault,
  type ModuleOptions,
  moduleThreads,
  type Questions,
  runtimeFault,
} from "./module-threads.ts";

/** The module in a checkout. In a Lambda bundle it lies beside the bundle (`infra/bundle.ts`). */
export const helmModule = new URL("../../engine/helm.wasm.br", import.meta.url);

/** Lookups of one rendering. */
export const maxLookups = 1_000;
/** The limit for all lookups of one rendering, as JSON: the answers are kept until the rendering has ended. */
export const maxLookupBytes = 32 * 1024 * 1024;

/** As the module answers it. */
type Observed = Omit<ObservedRelease, "ociDigest">;

const Refusal = z.object({
  part: z.enum(["chart", "values", "render", "record", "template", "removedField"]),
  message: z.string(),
  reference: z.number().int().exactOptional(),
});

/** The limit is set in the module (`engine/build.sh`). */
const outOfMemory = `it needs more than ${moduleMemoryMiB.helm} MiB of memory: split the chart, or look for values and templates that expand`;

/** Helm and Go's templates as WebAssembly. `options.file`: `engine/helm.wasm.br`. Each thread has at most 512 MiB. */
export function wasmHelm(
  options: Omit<ModuleOptions, "thread">,
): HelmEngine & MessageEngine & { close(): Promise<void> } {
  const thread = new URL("./helm-thread.ts", import.meta.url);
  const threads = moduleThreads({ ...options, thread }, keptHelmMiB * 1024 * 1024);
  const answerOf = async (
    { op, tenant, ...header }: { readonly op: string; readonly tenant: Tenant } & Readonly<Record<string, unknown>>,
    bodies: readonly Uint8Array[],
    limits: EngineLimits,
    signal: AbortSignal,
    questions?: Questions,
  ): Promise<ModuleAnswer> =>
    threads.ask(tenant, () => framedRequest({ op, ...header }, bodies), limits, signal, questions);
  const ask = async (...request: Parameters<typeof answerOf>): Promise<string> => {
    const [, , limits] = request;
    try {
      return textOf(await answerOf(...request), limits);
    } catch (error) {
      if (!(error instanceof ModuleFault)) throw error;
      throw new HelmEngineError(error.reason, `${unanswered[error.reason]}${error.message}`, { cause: error });
    }
  };
  return {
    async prepare({ chart, tenant, values, versionSuffix }, limits, signal) {
      const header = { op: "prepare", tenant, versionSuffix, values };
      return parsed<Prepared>(await ask(header, [chart], limits, signal));
    },
    async definitions({ chart, former, tenant, values, versionSuffix }, limits, signal) {
      const { bodies, formerBytes } = overFormer(chart, former);
      const header = { op: "definitions", tenant, versionSuffix, values, formerBytes };
      return parsed<readonly RenderedObject[]>(await ask(header, bodies, limits, signal));
    },
    async reusedDigest(record, { tenant, values }, limits, signal) {
      return parsed(await ask({ op: "reused", tenant, values }, [record], limits, signal), z.string());
    },
    async render({ chart, former, ...input }, lookup, limits, signal) {
      const { bodies, formerBytes } = overFormer(chart, former);
      const header = { op: "render", ...input, formerBytes };
      const answer = await ask(header, bodies, limits, signal, answering(lookup, signal));
      const { bytes, crds, observed } = framedRecord<{ observed: Observed; crds: readonly RenderedObject[] }>(answer);
      return { bytes, crds, observed: { ...observed, ociDigest: "" } };
    },
    async observe(record, { tenant, ociDigest }, limits, signal) {
      const observed = parsed<Observed>(await ask({ op: "observe", tenant, ociDigest }, [record], limits, signal));
      return { ...observed, ociDigest };
    },
    async amend(record, change, { tenant, ociDigest }, limits, signal) {
      const answer = await ask({ op: "amend", tenant, ociDigest, change }, [record], limits, signal);
      const { bytes, observed } = framedRecord<{ observed: Observed }>(answer);
      return { bytes, observed: { ...observed, ociDigest } };
    },
    async message({ tenant, ...message }, limits, signal) {
      try {
        return messageText(await answerOf({ op: "message", tenant, message }, [], limits, signal), limits);
      } catch (error) {
        if (!(error instanceof ModuleFault)) throw error;
        throw new MessageEngineError(error.reason, `${unwritten[error.reason]}${error.message}`, { cause: error });
      }
    },
    close: () => threads.close(),
  };
}

/** A record stands behind the chart; the header says how long it is. */
function overFormer(chart: Uint8Array, former: Uint8Array | undefined) {
  return former === undefined
    ? { bodies: [chart], formerBytes: 0 }
    : { bodies: [chart, former], formerBytes: former.length };
}

const unanswered = {
  busy: "helm is busy: ",
  time: "no result within ",
  unavailable: "helm did not start: ",
} as const satisfies Record<ModuleFault["reason"], string>;

function textOf(answer: ModuleAnswer, { maxOutputBytes }: EngineLimits): string {
  switch (answer.kind) {
    case "built":
      return answer.text;
    case "refused": {
      const { part, message, reference } = parsed<z.output<typeof Refusal>>(answer.text, Refusal);
      if (part === "template" || part === "removedField") throw new MessageEngineError(part, message);
      throw new HelmEngineError(part, message, reference === undefined ? {} : { reference });
    }
    case "tooMuchOutput":
      throw new HelmEngineError("output", `more than ${maxOutputBytes} bytes of output`);
    case "broken":
      if (isOutOfMemory(answer.said)) throw new HelmEngineError("memory", outOfMemory);
      throw new HelmEngineError("broken", `helm broke: ${runtimeFault(answer.said) ?? answer.why}`);
  }
}

const unwritten = {
  busy: "the template engine is busy: ",
  time: "the template is not done within ",
  unavailable: "the template engine did not start: ",
} as const satisfies Record<ModuleFault["reason"], string>;

function messageText(answer: ModuleAnswer, limits: EngineLimits): string {
  try {
    return parsed(textOf(answer, limits), z.string());
  } catch (error) {
    if (!(error instanceof HelmEngineError)) throw error;
    throw notWritten(error);
  }
}

function notWritten(error: HelmEngineError): MessageEngineError {
  if (error.reason === "memory") {
    const why = `the template needs more than ${moduleMemoryMiB.helm} MiB of memory: look for what it repeats`;
    return new MessageEngineError("memory", why, { cause: error });
  }
  if (error.reason === "output") return new MessageEngineError("output", error.message, { cause: error });
  return new MessageEngineError("broken", `the template engine broke: ${error.message}`, { cause: error });
}

/** Our own module's output has the expected shape: it is not checked value by value. */
function parsed<Shape>(text: string, schema: z.ZodType<Shape> = z.custom<Shape>()): Shape {
  return schema.parse(ownJson(text));
}

function ownJson(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HelmEngineError("output", `the release cannot be read: ${error.message}`, { cause: error });
  }
}

/** A line of JSON, and the record behind it. */
function framedRecord<Head extends object>(text: string): Head & { readonly bytes: Uint8Array<ArrayBuffer> } {
  const end = text.indexOf("\n");
  return { ...parsed<Head>(text.slice(0, end)), bytes: Uint8Array.from(Buffer.from(text.slice(end + 1))) };
}

const Query = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/** Answers of one rendering are kept: a template may look up the same object in each of its files. */
function answering(lookup: Lookup, signal: AbortSignal): Questions {
  const known = new Map<string, Promise<{ readonly text: string; readonly isError: boolean }>>();
  let bytes = 0;
  const look = async (question: string): Promise<{ readonly text: string; readonly isError: boolean }> => {
    try {
      const [apiVersion, kind, namespace, name] = Query.parse(JSON.parse(question));
      const found = await lookup({ apiVersion, kind, namespace, name }, signal);
      const text = formatJson(found ?? ({} satisfies JsonObject));
      bytes += Buffer.byteLength(text);
      if (bytes > maxLookupBytes) throw new RangeError(`more than ${maxLookupBytes} bytes of lookups in one rendering`);
      return { text, isError: false };
    } catch (error) {
      return { text: messageOf(error), isError: true };
    }
  };
  return (question, answer) => {
    const before = known.get(question);
    if (before === undefined && known.size >= maxLookups) {
      answer({ text: `more than ${maxLookups} lookups in one rendering`, isError: true });
      return;
    }
    const now = before ?? look(question);
    known.set(question, now);
    void now.then(answer);
  };
}
