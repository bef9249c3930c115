import { StatusError } from "../core/api-object.ts";
import type { Log } from "../core/log.ts";
import type { Controller, Tools } from "./controller.ts";
import type { ControllerClient, ObjectEvent } from "./controller-client.ts";
import { daemonSetController } from "./daemon-sets.ts";
import { deploymentController } from "./deployments.ts";
import { eventRecorder, isOfEndingNamespace } from "./event-recorder.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { jobController } from "./jobs.ts";
import { namespaceController } from "./namespaces.ts";
import { ownedObjects } from "./owned-objects.ts";
import { podController } from "./pods.ts";
import { replicaSetController } from "./replica-sets.ts";
import { smallKindsController } from "./small-kinds.ts";
import { statefulSetController } from "./stateful-sets.ts";

export interface ControllerOptions {
  readonly log: Log;
  /** Whether a request was served a moment ago. */
  readonly isBusy?: () => boolean;
  /** PEM of the certificate in each namespace's `kube-root-ca.crt`; plain http has none, so any text will do. */
  readonly rootCertificate?: string;
}

const maxConflictRetries = 5;
const firstRetryMs = 50;
const maxRetryMs = 60_000;
/** The longest that a timer of Node waits, about 24 days; a longer one would be over at once. */
const maxTimerMs = 2 ** 31 - 1;
/** Many events make one look. */
const gatherMs = 10;
/**
 * A real cluster's controllers have processors of their own. These share a thread with the API server and
 * its host, so they begin while no request is being served, or after this time.
 */
const giveWayMs = 100;

/**
 * Starts the simulator, the garbage collector and the namespace controller. All are driven by events: between them
 * nothing runs but the timers of what was asked to be slow, was refused or lacks its target.
 */
export function startControllers(
  client: ControllerClient,
  { log, isBusy = () => false, rootCertificate = "" }: ControllerOptions,
): { stop(): Promise<void> } {
  const owned = ownedObjects(client);
  const now = (): Date => new Date();
  const tools = { client, owned, record: eventRecorder(client, log, now), log, now };
  const workloads = [
    deploymentController,
    replicaSetController,
    statefulSetController,
    daemonSetController,
    jobController,
    podController,
    smallKindsController,
  ];
  const controllers = [
    // Objects in a namespace need its service account, and clients wait for what is collected: these two never give way.
    ...[garbageCollector(), namespaceController(rootCertificate)].map((one) => run(one, tools, () => false)),
    ...workloads.map((one) => run(one, tools, isBusy)),
  ];

  const see = (event: ObjectEvent): void => {
    owned.see(event);
    for (const controller of controllers) controller.see(event);
  };
  const unsubscribe = client.subscribe(see);
  for (const resource of client.kinds()) {
    for (const object of client.list(resource)) {
      see({ group: resource.group, resource: resource.resource, type: "ADDED", object });
    }
  }
  return {
    async stop() {
      unsubscribe();
      for (const controller of controllers) controller.stop();
    },
  };
}

interface Running {
  see(event: ObjectEvent): void;
  stop(): void;
}

/** A queue of keys, each once, worked off a moment after the event. */
function run(controller: Controller, tools: Omit<Tools, "again">, isBusy: () => boolean): Running {
  const waiting = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isScheduled = false;
  let isStopped = false;

  const enqueue = (key: string, attempt: number): void => {
    if (isStopped) return;
    waiting.set(key, attempt);
    if (isScheduled) return;
    isScheduled = true;
    begin(performance.now() + giveWayMs);
  };

  const begin = (latest: number): void => {
    setTimeout(() => {
      if (isBusy() && performance.now() < latest) begin(latest);
      else work();
    }, gatherMs);
  };

  const again = (key: string, delayMs: number, attempt: number): void => {
    clearTimeout(timers.get(key));
    const timer = setTimeout(
      () => {
        timers.delete(key);
        enqueue(key, attempt);
      },
      Math.min(delayMs, maxTimerMs),
    );
    timer.unref();
    timers.set(key, timer);
  };

  const reconcile = (key: string, attempt: number): void => {
    try {
      controller.reconcile(key, { ...tools, again: (delayMs) => again(key, delayMs, 0) });
    } catch (error) {
      // Its objects go with it, whatever they lack.
      if (isOfEndingNamespace(error)) return;
      // Another client was faster, or the object went: the next look sees what there is now.
      const isRace = error instanceof StatusError && (error.code === 409 || error.code === 404);
      if (isRace && attempt < maxConflictRetries) return enqueue(key, attempt + 1);
      tools.log.warn("controller could not reconcile", { controller: controller.name, key, error: String(error) });
      // As a real one: what it lacks may come without an event that it would see.
      again(key, Math.min(firstRetryMs * 2 ** attempt, maxRetryMs), attempt + 1);
    }
  };

  /** One key a turn, so that requests are answered in between. */
  function work(): void {
    const [next] = waiting;
    if (next !== undefined && !isStopped) {
      const [key, attempt] = next;
      waiting.delete(key);
      reconcile(key, attempt);
    }
    isScheduled = waiting.size > 0 && !isStopped;
    if (isScheduled) setImmediate(work);
  }

  return {
    see(event) {
      for (const key of controller.keysOf(event, tools)) enqueue(key, 0);
    },
    stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
