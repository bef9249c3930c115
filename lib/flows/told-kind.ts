import type { Condition } from "../api/condition.ts";
import { kustomizationStatusManager } from "../api/names.ts";
import type { Failure } from "../core/failure.ts";
import type { WorkKey } from "../core/work-key.ts";
import { failing } from "./conditions.ts";
import { failed } from "./oci-repository/stages.ts";
import { sourceManager } from "./oci-repository/subject-of-run.ts";
import type { EventSource } from "./record-event.ts";

type Now = Parameters<typeof failing>[2];

/** How objects of a kind are told of from outside their flow, which could not. */
interface ToldKind {
  /** The field manager of the status. */
  readonly manager: string;
  readonly source: EventSource;
  /** The conditions of an object whose run failed and is tried again. */
  readonly failing: (before: readonly Condition[], failure: Failure, now: Now) => readonly Condition[];
}

const kinds: Readonly<Record<string, ToldKind>> = {
  Kustomization: {
    manager: kustomizationStatusManager,
    source: "kustomize-controller",
    failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
  },
  OCIRepository: {
    manager: sourceManager,
    source: "source-controller",
    failing: (before, failure, now) => failed({ conditions: [...before] }, failure, now).conditions ?? [],
  },
};

export function toldKind({ kind }: Pick<WorkKey, "kind">): ToldKind {
  const found = kinds[kind];
  if (found === undefined) throw new Error(`nobody said how a ${kind} is told of`);
  return found;
}
