import { z } from "zod";
import { formatJson, type Json } from "../core/json.ts";
import { checkJson } from "../core/json-text.ts";
import { noTenant, type Tenant } from "../core/tenant.ts";
import { moduleMemoryMiB } from "../engine/module-memory.ts";
import {
  framedRequest,
  isOutOfMemory,
  type ModuleAnswer,
  ModuleFault,
  type ModuleOptions,
  type ModuleThreads,
  moduleThreads,
  type RequestLimits,
  runtimeFault,
} from "../engine/module-threads.ts";
import {
  type Cel,
  CelFault,
  type CelHealthRule,
  type CelProgram,
  type CelRules,
  type CelValues,
  JsonText,
  maxDeliveryCost,
  maxFilterCost,
  maxRunCost,
} from "./cel.ts";

/** The module in a checkout. In a Lambda bundle it lies beside the bundle (`infra/bundle.ts`). */
export const celModule = new URL("../../engine/cel.wasm.br", import.meta.url);

/** Of one message. The length of an expression, its cost and the memory are limited in the module (`engine/cel`, `engine/build.sh`). */
export const celLimits: RequestLimits & { readonly maxInputBytes: number } = {
  maxCpuMs: 5_000,
  maxWallMs: 30_000,
  maxInputBytes: 16 * 1024 * 1024,
  maxOutputBytes: 4 * 1024 * 1024,
};

/**
 * The cost limit of one message; the remaining objects wait for another turn, so that other tenants have theirs in between. The last
 * evaluation may go beyond it.
 */
export const maxTurnCost = 250_000;

/** The cost limit of a provider's rules for one token: they are evaluated in one message. */
export const maxRulesCost = 500_000;

/** Many objects are sent in messages of about this size. */
const messageBytes = 4 * 1024 * 1024;

const HealthStatus = z.enum(["InProgress", "Failed", "Current"]);

const maxKeptMemoryBytes = 160 * 1024 * 1024;

const Fault = z.object({ reason: z.enum(["expression", "evaluation", "limit", "broken"]), message: z.string() });
const Response = z.object({
  // Its values are not looked at one by one: of JSON nothing else is read.
  results: z.array(z.object({ value: z.custom<Json>().optional(), fault: Fault.optional() })).nullable(),
  fault: Fault.optional(),
  cost: z.number(),
});
type Result = { readonly value: Json } | CelFault;

type Header = Readonly<Record<string, Json>>;

/** The remaining budget of a run, and the tenant whose turns it takes. */
interface Budget {
  readonly tenant: Tenant;
  /** The budget of one evaluation. */
  readonly limit: number;
  left: number;
}

const budgets = {
  delivery: { limit: maxFilterCost, left: maxDeliveryCost },
  /** Kubernetes' limit of one evaluation. */
  run: { limit: 1_000_000, left: maxRunCost },
} as const;

/** cel-go as WebAssembly. `options.file`: `engine/cel.wasm.br`. Each thread has at most 256 MiB. */
export function wasmCel(options: ModuleOptions, limits = celLimits): Cel & { close(): Promise<void> } {
  const threads = moduleThreads(options, maxKeptMemoryBytes);
  return { ...celOf(threads, limits, undefined), close: () => threads.close() };
}

function celOf(threads: ModuleThreads, limits: typeof celLimits, budget: Budget | undefined): Cel {
  /** @param what names in a message what was asked, for example `the CEL expression 'true'` */
  const ask = async (
    header: Header,
    { shared, each }: { readonly shared: CelValues; readonly each: readonly CelValues[] },
    what: string,
    signal: AbortSignal,
  ): Promise<readonly Result[]> => {
    const contents: Buffer[] = [];
    const segments = (values: CelValues): Json =>
      Object.entries(values).map(([name, value]) => {
        const content = Buffer.from(textOf(value));
        contents.push(content);
        return [name, content.length];
      });
    const framed = { ...header, turn: maxTurnCost, shared: segments(shared), each: each.map(segments) };
    // Messages of a run may wait for one another: what is left is known once it is this one's turn.
    const request = () => {
      const left = Math.min(
        budget?.left ?? Number.POSITIVE_INFINITY,
        header["do"] === "failures" ? maxRulesCost : maxRunCost,
      );
      return framedRequest({ ...framed, budget: left, limit: budget?.limit ?? 0 }, contents);
    };
    const bytes = contents.reduce((sum, { length }) => sum + length, 0);
    if (bytes > limits.maxInputBytes) {
      throw new CelFault("limit", `${what}: its variables have ${bytes} bytes, more than ${limits.maxInputBytes}`);
    }
    try {
      const answer = responseOf(await threads.ask(budget?.tenant ?? noTenant, request, limits, signal), what);
      if (budget !== undefined) budget.left = Math.max(0, budget.left - answer.cost);
      return resultsOf(answer);
    } catch (error) {
      if (!(error instanceof ModuleFault)) throw error;
      // An expression that took so long has cost more than its budget.
      if (budget !== undefined && error.reason === "time") budget.left = 0;
      switch (error.reason) {
        case "time":
          throw new CelFault("limit", `${what}: no result within ${error.message}`, { cause: error });
        case "busy":
          throw new CelFault("unavailable", `CEL is busy: ${error.message}`, { cause: error });
        case "unavailable":
          throw new CelFault("unavailable", `CEL did not start: ${error.message}`, { cause: error });
      }
    }
  };

  /** The results for all of `each`, in as many turns as they cost. */
  const askInTurns: typeof ask = async (header, { shared, each }, what, signal) => {
    const results: Result[] = [];
    while (results.length < each.length) {
      const some = await ask(header, { shared, each: each.slice(results.length) }, what, signal);
      if (some.length === 0) throw new CelFault("broken", `${what}: there is no result`);
      results.push(...some);
    }
    return results;
  };

  const compile = async <Value extends Json>(
    output: "bool" | "string" | "value",
    isValue: (json: Json) => json is Value,
    expression: string,
    variables: readonly string[],
    signal: AbortSignal,
    hasIntegers = false,
  ): Promise<CelProgram<Value>> => {
    const what = `the CEL expression '${expression}'`;
    const header = { expression, variables, output, hasIntegers };
    await ask({ ...header, do: "compile" }, { shared: {}, each: [] }, what, signal);
    const valueOf = (result: Result): Value | CelFault => {
      if (result instanceof CelFault) return result;
      if (isValue(result.value)) return result.value;
      throw new CelFault("broken", `${what}: the result is not of type ${output}`);
    };
    const evaluateEach: CelProgram<Value>["evaluateEach"] = async (shared, each, stop) => {
      const results = await askInTurns({ ...header, do: "evaluate" }, { shared, each }, what, stop);
      return results.map(valueOf);
    };
    return {
      evaluateEach,
      async evaluate(values, stop) {
        const [result] = await evaluateEach(values, [{}], stop);
        if (result === undefined) throw new CelFault("broken", `${what}: there is no result`);
        if (result instanceof CelFault) throw result;
        return result;
      },
    };
  };

  return {
    withBudget: (tenant, purpose = "run") => celOf(threads, limits, { tenant, ...budgets[purpose] }),
    compileBool: (expression, variables, signal, numbers) =>
      compile("bool", (json) => typeof json === "boolean", expression, variables, signal, numbers === "integers"),
    compileString: (expression, variables, signal) =>
      compile("string", (json) => typeof json === "string", expression, variables, signal, true),
    compileValue: (expression, variables, signal) =>
      compile("value", (_json): _json is Json => true, expression, variables, signal),
    async compileRules(rules, signal) {
      const what = "the CEL expressions of an OIDC provider";
      const header = { rules: rulesOf(rules) };
      await ask({ ...header, do: "compileRules" }, { shared: {}, each: [] }, what, signal);
      return {
        async failures(claims, stop) {
          const [result] = await ask({ ...header, do: "failures" }, { shared: { claims }, each: [] }, what, stop);
          if (result instanceof CelFault) throw result;
          return z.array(z.string()).parse(result?.value);
        },
      };
    },
    async compileHealth(rule, signal) {
      const what = "the expressions of a health check";
      const header = { health: ruleOf(rule), hasIntegers: true };
      await ask({ ...header, do: "compileHealth" }, { shared: {}, each: [] }, what, signal);
      return {
        async statuses(objects, stop) {
          const statuses: (z.infer<typeof HealthStatus> | CelFault)[] = [];
          for (const texts of chunks(objects.map(textOf))) {
            const each = texts.map((text) => ({ object: new JsonText(text) }));
            const results = await askInTurns({ ...header, do: "health" }, { shared: {}, each }, what, stop);
            statuses.push(
              ...results.map((result) => (result instanceof CelFault ? result : HealthStatus.parse(result.value))),
            );
          }
          return statuses;
        },
      };
    },
  };
}

/** Only what the module reads. */
function rulesOf({ variables, validations }: CelRules): Json {
  return {
    variables: variables.map(({ name, expression }) => ({ name, expression })),
    validations: validations.map(({ expression, message }) => ({ expression, message })),
  };
}

function textOf(value: Json | JsonText): string {
  return value instanceof JsonText ? value.text : formatJson(value);
}

function ruleOf({ current, inProgress = "", failed = "" }: CelHealthRule): Json {
  return { current, inProgress, failed };
}

/** The texts in their order, in lists of about {@link messageBytes}. */
function chunks(texts: readonly string[]): readonly (readonly string[])[] {
  const lists: string[][] = [];
  let left = 0;
  for (const text of texts) {
    if (left <= 0) {
      lists.push([]);
      left = messageBytes;
    }
    lists.at(-1)?.push(text);
    left -= text.length;
  }
  return lists;
}

function resultsOf({ results, fault }: z.infer<typeof Response>): readonly Result[] {
  if (fault !== undefined) throw new CelFault(fault.reason, fault.message);
  return (results ?? []).map((result) =>
    result.fault === undefined
      ? { value: result.value ?? null }
      : new CelFault(result.fault.reason, result.fault.message),
  );
}

function responseOf(answer: ModuleAnswer, what: string): z.infer<typeof Response> {
  switch (answer.kind) {
    case "built":
    case "refused":
      return Response.parse(parsed(answer.text, what));
    case "tooMuchOutput":
      throw tooLarge(what);
    case "broken":
      if (isOutOfMemory(answer.said))
        throw new CelFault("limit", `${what}: it needs more than ${moduleMemoryMiB.cel} MiB of memory`);
      if (/call stack/i.test(answer.why)) throw new CelFault("limit", `${what}: it, or what it reads, nests too deep`);
      throw new CelFault("broken", `${what}: CEL broke: ${runtimeFault(answer.said) ?? answer.why}`);
  }
}

/** Numbers are what `JSON.parse` makes of them, as Flux reads them. */
function parsed(text: string, what: string): unknown {
  try {
    checkJson(text);
  } catch (error) {
    throw tooLarge(what, error);
  }
  return JSON.parse(text);
}

function tooLarge(what: string, cause?: unknown): CelFault {
  return new CelFault("limit", `${what}: the result is too large`, { cause });
}
