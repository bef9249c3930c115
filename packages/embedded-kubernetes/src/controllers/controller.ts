import type { Log } from "../core/log.ts";
import type { ControllerClient, ObjectEvent } from "./controller-client.ts";
import type { RecordEvent } from "./event-recorder.ts";
import type { OwnedObjects } from "./owned-objects.ts";

/** What a controller works with. */
export interface Tools {
  readonly client: ControllerClient;
  readonly owned: OwnedObjects;
  readonly record: RecordEvent;
  readonly log: Log;
  readonly now: () => Date;
  /** Looks at the object again after `delayMs`; the shorter of two delays wins. */
  again(delayMs: number): void;
}

/** Which objects a controller looks at, and what it does about one. Looks only at present state, so it may be repeated. */
export interface Controller {
  readonly name: string;
  /** Keys of what an event gives reason to look at: `NAMESPACE/NAME`, or whatever the controller reads as its key. */
  keysOf(event: ObjectEvent, tools: Pick<Tools, "client">): readonly string[];
  reconcile(key: string, tools: Tools): void;
}

export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

export function parseKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
