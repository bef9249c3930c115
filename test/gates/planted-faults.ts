/** One fault that a gate must find: a file, and the text that the gate has to print for it. */
export interface PlantedFault {
  readonly name: string;
  /** Where the file is put; overrides by folder apply to it as to any other. */
  readonly path: string;
  readonly text: string;
  readonly gate: "types" | "lint" | "format" | "dead code";
  /** A part of the gate's output: mostly the name of the rule. */
  readonly expected: string;
}

const port = 'import type { Thing } from "./thing.ts";\nexport const thing: Thing = { kind: "a" };\n';

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "a type error",
    path: "lib/core/type-error.ts",
    text: 'export const count: number = "one";\n',
    gate: "types",
    expected: "lib/core/type-error.ts",
  },
  {
    name: "an index that may be missing",
    path: "lib/core/index-error.ts",
    text: "export const first = (list: readonly string[]): string => list[0];\n",
    gate: "types",
    expected: "lib/core/index-error.ts",
  },
  {
    name: "one half of a cycle",
    path: "lib/core/cycle-a.ts",
    text: 'import { b } from "./cycle-b.ts";\nexport const a = (): number => b();\n',
    gate: "lint",
    expected: "no-cycle",
  },
  {
    name: "the other half of a cycle",
    path: "lib/core/cycle-b.ts",
    text: 'import { a } from "./cycle-a.ts";\nexport const b = (): number => a();\n',
    gate: "lint",
    expected: "no-cycle",
  },
  {
    name: "a cycle of types only",
    path: "lib/core/thing.ts",
    text: 'import type { thing } from "./thing-user.ts";\nexport interface Thing {\n  readonly kind: string;\n  readonly other?: typeof thing;\n}\n',
    gate: "lint",
    expected: "no-cycle",
  },
  {
    name: "the other file of a cycle of types",
    path: "lib/core/thing-user.ts",
    text: port,
    gate: "lint",
    expected: "no-cycle",
  },
  {
    name: "a package that knows Sluice",
    path: "packages/embedded-kubernetes/src/server/layer.ts",
    text: 'import { x } from "../../../../lib/core/x.ts";\nexport const y = x;\n',
    gate: "lint",
    expected: "no-restricted-imports",
  },
  {
    name: "a test of a package that knows the tests of Sluice",
    path: "packages/embedded-kubernetes/test/unit/layer.ts",
    text: 'import { x } from "../../../../test/doubles/x.ts";\nexport const y = x;\n',
    gate: "lint",
    expected: "no-restricted-imports",
  },
  {
    name: "an SDK outside the adapters",
    path: "lib/queue/sdk.ts",
    text: 'import { SQSClient } from "@aws-sdk/client-sqs";\nexport const client = new SQSClient({});\n',
    gate: "lint",
    expected: "no-restricted-imports",
  },
  {
    name: "an SDK in another adapter",
    path: "lib/kube/sdk.ts",
    text: 'import type { SQSClient } from "@aws-sdk/client-sqs";\nexport type Client = SQSClient;\n',
    gate: "lint",
    expected: "no-restricted-imports",
  },
  {
    name: "an SDK in a function",
    path: "functions/sdk.ts",
    text: 'import type { SQSClient } from "@aws-sdk/client-sqs";\nexport type Client = SQSClient;\n',
    gate: "lint",
    expected: "no-restricted-imports",
  },
  {
    name: "fetch in the core",
    path: "lib/sources/fetching.ts",
    text: 'export const get = (): Promise<Response> => fetch("http://127.0.0.1");\n',
    gate: "lint",
    expected: "no-restricted-globals",
  },
  {
    name: "the environment in the core",
    path: "lib/flows/environment.ts",
    text: 'export const home = (): string | undefined => process.env["HOME"];\n',
    gate: "lint",
    expected: "no-process-env",
  },
  {
    name: "any",
    path: "lib/core/any.ts",
    text: "export const anything = (value: any): boolean => value === 1;\n",
    gate: "lint",
    expected: "no-explicit-any",
  },
  {
    name: "a use of a value of type any",
    path: "lib/core/unsafe.ts",
    text: 'export const name = (): string => JSON.parse("{}").name;\n',
    gate: "lint",
    expected: "no-unsafe-return",
  },
  {
    name: "a use of a value of type any in what writes IAM",
    path: "infra/lib/unsafe.ts",
    text: 'export const name = (): string => JSON.parse("{}").name;\n',
    gate: "lint",
    expected: "no-unsafe-return",
  },
  {
    name: "an assignment of a value of type any in the app of the deploy",
    path: "infra/app.ts",
    text: 'export const anything = JSON.parse("{}");\n',
    gate: "lint",
    expected: "no-unsafe-assignment",
  },
  {
    name: "a non-null assertion",
    path: "lib/core/bang.ts",
    text: "export const first = (list: readonly string[]): string => list[0]!;\n",
    gate: "lint",
    expected: "no-non-null-assertion",
  },
  {
    name: "an unchecked assertion",
    path: "lib/core/assertion.ts",
    text: "export const text = (value: unknown): string => value as string;\n",
    gate: "lint",
    expected: "no-unsafe-type-assertion",
  },
  {
    name: "a promise that is not awaited",
    path: "lib/core/floating.ts",
    text: "const work = async (): Promise<void> => {};\nexport function start(): void {\n  work();\n}\n",
    gate: "lint",
    expected: "no-floating-promises",
  },
  {
    name: "a switch that forgets a case",
    path: "lib/core/switch.ts",
    text: 'export function size(of: "small" | "large"): number | undefined {\n  switch (of) {\n    case "small":\n      return 1;\n  }\n  return undefined;\n}\n',
    gate: "lint",
    expected: "switch-exhaustiveness-check",
  },
  {
    name: "a cause that gets lost",
    path: "lib/core/cause.ts",
    text: 'export function run(work: () => void): void {\n  try {\n    work();\n  } catch (error) {\n    throw new Error("failed");\n  }\n}\n',
    gate: "lint",
    expected: "preserve-caught-error",
  },
  {
    name: "a default export",
    path: "lib/core/default.ts",
    text: "export default 1;\n",
    gate: "lint",
    expected: "no-default-export",
  },
  {
    name: "a call of console.log",
    path: "lib/core/print.ts",
    text: 'export function say(): void {\n  console.log("x");\n}\n',
    gate: "lint",
    expected: "no-console",
  },
  {
    name: "a test without an expectation",
    path: "test/unit/empty.test.ts",
    text: 'import { test } from "vitest";\n\ntest("nothing", () => {});\n',
    gate: "lint",
    expected: "expect-expect",
  },
  {
    name: "a line that is not formatted",
    path: "lib/core/format.ts",
    text: "export   const x=1\n",
    gate: "format",
    expected: "lib/core/format.ts",
  },
  {
    name: "an unused export",
    path: "lib/core/unused.ts",
    text: "export const unused = 1;\n",
    gate: "dead code",
    expected: "lib/core/unused.ts",
  },
  {
    name: "an undeclared package",
    path: "cli/planted.js",
    text: 'import "left-pad";\n',
    gate: "dead code",
    expected: "left-pad",
  },
];
