import type { Step } from "./run-step.ts";

/** A step of `npm run deep`. */
export interface DeepStep extends Step {
  /** What it shows, in a line of `--list`. */
  readonly shows: string;
  /** Whether it needs the real parts, which are then started first. */
  readonly needsRealParts?: true;
}

const vitest = (...args: readonly string[]): Step["command"] => [
  "vitest",
  "run",
  "--reporter=./test/report/each-minute.ts",
  ...args,
];
const shell = (script: string): Step["command"] => ["bash", "-euo", "pipefail", "-c", script];

const fluxTests = "test/interop/flux-recorder";

/**
 * What takes too long for each change. The gate runs a small share of each, or runs it where the change touches its subject, so
 * that a deep check never finds something trivial. Shortest first.
 */
export const deepSteps: readonly DeepStep[] = [
  {
    name: "engine-build",
    shows: "the checked-in WebAssembly modules are those that the sources in engine/ give",
    command: ["engine/build.sh", "--check"],
  },
  {
    name: "engine",
    shows:
      "upstream's own tests of the patched kustomize packages, 600 trees printed as without the patches, CEL's table",
    command: ["engine/test.sh"],
  },
  {
    name: "dialects",
    shows: "60,000 generated version ranges, tag filters and ignore patterns of each kind mean what they mean to Flux",
    command: vitest("--project=real", "test/interop/dialects.test.ts"),
    env: { SLUICE_DIALECT_CASES: "60000" },
  },
  {
    name: "trees",
    shows: "2,000 random trees are built to the same bytes as by kustomize",
    command: vitest("test/property/build-equals-engine.test.ts", "test/interop/engine-native.test.ts"),
    env: { SLUICE_BUILD_TREES: "2000" },
  },
  {
    name: "simulator",
    shows:
      "5,000 stories of the work queue and 1,000 of ownership; each rule that is taken out is missed by some story",
    command: vitest("test/unit/queue/simulator", "test/unit/flows/ownership"),
    env: { SLUICE_SIM_SEEDS: "5000", SLUICE_SIM_OWNERSHIP_SEEDS: "1000", SLUICE_SIM_RULES: "all" },
  },
  {
    name: "worst-inputs",
    shows: "the worst input of each reader of foreign bytes at its full size blocks and takes memory within the limits",
    command: vitest("--project=embedded", "test/limits"),
    env: { SLUICE_DEEP: "true" },
  },
  {
    name: "kills",
    shows:
      "a process that is killed, a handler that is cut off and an uninstall end well, killed at each write in place of some",
    command: vitest(
      "--project=embedded",
      "test/e2e/crash",
      "test/e2e/uninstall",
      "test/e2e/definitions",
      "test/e2e/flow",
    ),
    env: { SLUICE_DEEP: "true" },
  },
  {
    name: "real-simulator",
    shows: "40 stories of the work queue on each of DynamoDB Local and ElasticMQ",
    command: vitest(
      "--project=real",
      "test/contract/dynamodb-simulator.test.ts",
      "test/contract/aws-queue-simulator.test.ts",
    ),
    env: { SLUICE_SIM_DYNAMODB_SEEDS: "40", SLUICE_SIM_SQS_SEEDS: "40" },
    needsRealParts: true,
  },
  {
    name: "real-stories",
    shows: "every story of the Kustomization flow on a real control plane; the gate plays those that depend on it",
    command: vitest("--project=real", "test/e2e/flow/real.test.ts"),
    env: { SLUICE_REAL_STORIES: "all" },
    needsRealParts: true,
  },
  {
    name: "real-kills",
    shows:
      "the whole system on real parts and an uninstall end well, with 500 objects, and killed at each write in place of some",
    command: vitest(
      "--project=real",
      "test/e2e/whole-system",
      "test/e2e/uninstall",
      "test/e2e/definitions",
      "test/e2e/local-on-real",
    ),
    env: { SLUICE_DEEP: "true" },
    needsRealParts: true,
  },
  {
    name: "flux",
    shows:
      "Flux's own controllers, built from their modules, end each recorded scenario and the move over and back as Sluice does",
    command: shell(
      `flux="$(node ${fluxTests}/build-flux.ts --fetch)"; eval "$flux"; vitest run --project=real --reporter=./test/report/each-minute.ts ${fluxTests}`,
    ),
    needsRealParts: true,
  },
  {
    name: "fleet",
    shows:
      "six of Flux's controllers and Sluice take over a repository like Flux's own example from each other, and nothing changes",
    command: shell(
      `flux="$(node ${fluxTests}/build-flux.ts --fetch --all)"; eval "$flux"; vitest run --project=real --reporter=./test/report/each-minute.ts test/interop/fleet`,
    ),
    needsRealParts: true,
  },
  {
    name: "notify",
    shows: "notification-controller and Sluice send the same requests to the same Providers of thirty types",
    command: shell(
      `flux="$(node ${fluxTests}/build-flux.ts --fetch --all)"; eval "$flux"; vitest run --project=real --reporter=./test/report/each-minute.ts test/interop/notify`,
    ),
    needsRealParts: true,
  },
  {
    name: "sources",
    shows:
      "source-controller and Sluice give HelmRepositories, HelmCharts and the other sources the same statuses and events",
    command: shell(
      `flux="$(node ${fluxTests}/build-flux.ts --fetch --all)"; eval "$flux"; vitest run --project=real --reporter=./test/report/each-minute.ts test/interop/sources`,
    ),
    needsRealParts: true,
  },
  {
    name: "flagger",
    shows:
      "Flagger itself, built from its modules, takes over a Canary and hands it back, without a run that nobody asked for",
    command: shell(
      'flagger="$(node test/interop/flagger/build-flagger.ts --fetch)"; eval "$flagger"; vitest run --project=real --reporter=./test/report/each-minute.ts test/interop/flagger',
    ),
    needsRealParts: true,
  },
  {
    name: "fuzz",
    shows: "every property with 5,000 runs",
    command: shell(
      "vitest run --project=embedded --reporter=./test/report/each-minute.ts $(grep -rl fast-check test packages/*/test --include='*.test.ts')",
    ),
    env: { SLUICE_PROPERTY_RUNS: "5000" },
  },
  {
    name: "load",
    shows:
      "the benchmarks with load: a burst of events, webhook deliveries, a hundred Kustomizations, 2,000 objects, memory at rest",
    command: shell("node bench/main.ts eventBurst webhookDeliveries hundredKustomizations twoThousandObjects idle"),
    needsRealParts: true,
  },
  {
    name: "faults",
    shows: "every planted fault is noticed by the tests that it names",
    command: ["node", "test/faults/run.ts", "--all"],
  },
  {
    name: "mutation",
    shows: "85 % of the small changes to lib/queue and lib/apply are noticed by the nearest unit tests",
    command: ["node", "test/mutation/main.ts"],
  },
];
