import type { EventRelation } from "../../lib/core/event-relation.ts";
import { subject } from "../../lib/core/object-ref.ts";
import type { EventSink } from "../../lib/core/ports/event-sink.ts";

/** Takes the events of runs, and says what they have to do with other objects: `web DependencyNotReady waits Kustomization/apps/base NotFound`. */
export function toldRelations(): {
  readonly events: EventSink;
  readonly relations: string[];
  /** The reasons of all events that Alerts may send. */
  readonly reasons: string[];
} {
  const relations: string[] = [];
  const reasons: string[] = [];
  return {
    relations,
    reasons,
    events: {
      async tell(_cluster, { involvedObject, reason }, relation) {
        reasons.push(reason);
        if (relation !== undefined) relations.push(`${involvedObject.name} ${reason} ${textOf(relation)}`);
      },
    },
  };
}

function textOf(relation: EventRelation): string {
  switch (relation.kind) {
    case "waits":
      return ["waits", subject(relation.cause), relation.why ?? ""].join(" ").trimEnd();
    case "failed":
      return "failed";
    case "recovered":
      return ["recovered", ...relation.from.map(subject)].join(" ");
  }
}
