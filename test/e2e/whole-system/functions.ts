import type { Bundle } from "../../../infra/bundle.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { invokeAsync } from "../../real/lambda/invoke-async.ts";
import type { InvocationResult } from "../../real/lambda/runtime-api.ts";
import { feedFromSqs, inMessage, type SqsEvent } from "../../real/lambda/sqs-source.ts";
import { type LambdaFunction, startFunction } from "../../real/lambda/start-function.ts";
import type { Installation } from "./installation.ts";
import type { RegistryEvent } from "./registry-events.ts";

type Invoke = (event: unknown) => Promise<InvocationResult>;

/** How a batch of messages comes to the function: `own` is the environment that asked for it, `all` are all of them. */
export type Deliver = (event: SqsEvent, own: Invoke, all: readonly Invoke[]) => Promise<InvocationResult>;

export interface Functions extends AsyncDisposable {
  /** Hands an event of a registry over, as the queue of hints does. */
  readonly ingest: (event: RegistryEvent) => void;
  /** Kills the environments of the reconcile function; answers how many of them were in the middle of an event. */
  readonly killReconcilers: () => number;
  /** What all functions have written. */
  readonly log: () => string;
}

export interface FunctionsOptions {
  readonly bundles: ReadonlyMap<string, Bundle>;
  readonly installation: Installation;
  readonly region: string;
  /** Environments of the reconcile function, each fed by a poller of its own. */
  readonly environments: number;
  /** Once, where absent. */
  readonly deliver?: Deliver;
}

const retryMs = 500;
/** A schedule of EventBridge's has a minute at least. */
const sweepEveryMs = 1_000;

/** The three functions, each woken as it is in Lambda: by events, by its queue, by a schedule. */
export async function startFunctions(options: FunctionsOptions): Promise<Functions> {
  const { installation, region, environments, deliver = (event, own) => own(event) } = options;
  const stop = new AbortController();
  const start = (name: string): Promise<LambdaFunction> => {
    const bundle = options.bundles.get(name);
    if (bundle === undefined) throw new Error(`there is no bundle ${name}`);
    const { folder } = bundle;
    return startFunction({ name, folder, handler: "index.handler", region, ...installation.functionOf(name) });
  };
  const [ingest, sweep] = await Promise.all([start("ingest"), start("sweep")]);
  const reconcilers = await Promise.all(Array.from({ length: environments }, () => start("reconcile")));

  const source = {
    client: installation.sqs,
    queueUrl: installation.queueUrl,
    queueArn: `arn:aws:sqs:${region}:000000000000:wake-ups`,
    region,
    batchSize: 10,
    visibilitySeconds: installation.functionOf("reconcile").timeoutMs / 1_000,
  };
  /** Events under way, by environment. */
  const underWay = new Map<LambdaFunction, number>();
  const count = (one: LambdaFunction, by: number) => underWay.set(one, (underWay.get(one) ?? 0) + by);
  const all = reconcilers.map((one): Invoke => {
    return (event) => {
      count(one, 1);
      return one.invoke(event).finally(() => count(one, -1));
    };
  });
  const feeding = all.map((own) => feedFromSqs(source, (event) => deliver(event, own, all), stop.signal));
  const { hints } = installation;
  if (hints !== undefined) {
    feeding.push(feedFromSqs({ ...source, queueUrl: hints.queueUrl }, (event) => ingest.invoke(event), stop.signal));
  }
  const sweeping = sweepOnSchedule(sweep, stop.signal);
  let ingesting: Promise<unknown> = Promise.resolve();
  return {
    ingest(event) {
      if (hints !== undefined) {
        ingesting = Promise.all([ingesting, hints.put(event)]).catch(() => undefined);
        return;
      }
      // One environment takes one event after the other.
      ingesting = ingesting
        .then(() => invokeAsync(event, (hint) => inMessage(hint, ingest.invoke), retryMs, stop.signal))
        .catch(() => undefined);
    },
    killReconcilers() {
      const atWork = reconcilers.filter((one) => one.pid() !== undefined && (underWay.get(one) ?? 0) > 0);
      for (const pid of reconcilers.map((one) => one.pid())) {
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      }
      return atWork.length;
    },
    log: () => [ingest, sweep, ...reconcilers].map(({ output }) => output()).join("\n"),
    async [Symbol.asyncDispose]() {
      stop.abort();
      // The caller gets no answer.
      await Promise.all([ingest, sweep, ...reconcilers].map((one) => one.stop()));
      await Promise.all([...feeding, sweeping, ingesting]);
    },
  };
}

/** A sweep that failed is over: the next one comes. */
async function sweepOnSchedule({ invoke }: LambdaFunction, signal: AbortSignal): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await invoke({});
    await systemClock.sleep(sweepEveryMs, signal).catch(() => undefined);
  }
}
