import type { JsonObject } from "../../../lib/core/json.ts";
import type { SourceHosts } from "./source-hosts.ts";

/** An object of a scenario: it gets a namespace of the scenario. */
export interface Written {
  readonly kind: string;
  readonly name: string;
  readonly spec?: JsonObject;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
  /** Of a ServiceAccount. */
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

export interface Step {
  readonly what: string;
  /** Changes what the hosts have. @param place what the names of files, repositories and buckets begin with */
  readonly change?: (hosts: SourceHosts, place: string) => void | Promise<void>;
  readonly apply?: (hosts: SourceHosts, place: string) => readonly Written[];
  /** `KIND/NAME` each. */
  readonly remove?: readonly string[];
}

/**
 * What both sides get. The first step prepares the others, and each of them is played right after it with objects of its own, so that
 * no step depends on how another one ends. The steps of a story follow each other.
 *
 * client-go drops what is more than 25 events of an object, also those that say that nothing has changed. So an object of a story has
 * at most 6 steps, since each requests up to three runs.
 */
export interface Scenario {
  readonly name: string;
  readonly isStory?: true;
  readonly steps: readonly [Step, ...Step[]];
}

/** Steps that each apply one object with another spec. @param object the object with the step's fields */
export function specs<T extends JsonObject>(
  all: Readonly<Record<string, T>>,
  object: (hosts: SourceHosts, place: string, spec: T) => Written,
): readonly Step[] {
  return Object.entries(all).map(([what, spec]) => ({
    what,
    apply: (hosts, place) => [object(hosts, place, spec)],
  }));
}
