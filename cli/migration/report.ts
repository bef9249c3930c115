import { definedKinds } from "../../lib/api/kinds/declared-kinds.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";
import { safeText } from "../../lib/core/safe-text.ts";
import { specRefusals } from "../../lib/flows/kinds/spec-refusals.ts";
import { valueAt } from "../objects/read-object.ts";
import type { Unreconciled } from "../objects/unreconciled.ts";
import type { FoundController } from "./controllers.ts";
import { type Difference, differencesOf, restoringSettings } from "./differences.ts";
import { hasFlux, type MigrationFacts, type Need, nameOfObject, namespaceOf, ofKind, type Unread } from "./facts.ts";
import { type FoundFlag, judgeFlags } from "./flags.ts";
import { needsOf } from "./needs.ts";

/** A reason why Sluice would not reconcile an object. */
export interface RefusedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The reason of its condition Ready, after the move. */
  readonly reason: string;
  /** Names the field, and what to do. */
  readonly message: string;
}

/** The objects of a kind that Sluice takes over as they are. */
export interface TakenOver {
  readonly kind: string;
  readonly count: number;
  /** `namespace/name` of each. */
  readonly objects: readonly string[];
}

/** What `check --migration -o json` prints. */
export interface MigrationReport {
  /** Whether everything can move: nothing is refused, unread or reconciled by other controllers alone. */
  readonly canMove: boolean;
  /** Why nothing can be said of the move. */
  readonly fault?: string;
  /** The controllers of Flux and Flagger, without their arguments. */
  readonly controllers: readonly Omit<FoundController, "args" | "serviceAccount">[];
  readonly takenOver: readonly TakenOver[];
  readonly refused: readonly RefusedObject[];
  /** Kinds of Flux and Flagger that Sluice does not reconcile. */
  readonly unreconciled: readonly Unreconciled[];
  readonly flags: readonly FoundFlag[];
  /** For the settings of the installation: what flags and objects of the cluster ask for. */
  readonly settings: JsonObject;
  /** The same, with those that restore Flux's way where Sluice does otherwise by default. */
  readonly fluxSettings: JsonObject;
  readonly needs: readonly Need[];
  /** For the context of cdk.json. */
  readonly installation: JsonObject;
  readonly differences: readonly Difference[];
  /** What could not be read. */
  readonly unread: readonly Unread[];
}

const noFlux =
  "this cluster has neither controllers nor objects of Flux or Flagger, so there is nothing to move: check --context, or begin with docs/deploy.md";

/** The report on a cluster that cannot be asked. */
export function emptyReport(fault: string): MigrationReport {
  const none: readonly never[] = [];
  const lists = { controllers: none, takenOver: none, refused: none, unreconciled: none, flags: none, needs: none };
  const documents = { settings: {}, fluxSettings: {}, installation: {} };
  return { canMove: false, fault, ...lists, ...documents, differences: none, unread: none };
}

/** Judges what was read of a cluster. Asks nothing. */
export async function migrationReport(facts: MigrationFacts): Promise<MigrationReport> {
  const { controllers, objects, unreconciled, unread } = facts;
  const { flags, settings, ...rules } = judgeFlags(controllers);
  const refused = (await Promise.all(objects.map((one) => refusalsOf(one, facts, rules)))).flat();
  const { installation, needs, settings: needed } = needsOf(facts, { ...rules, settings });
  const asked = { ...settings, ...needed };
  const differences = differencesOf(objects, new Set(flags.map(({ flag }) => flag)));
  if (!hasFlux(facts)) return emptyReport(noFlux);
  const hasObstacle =
    refused.length + unread.length > 0 ||
    flags.some(({ verdict }) => verdict === "refused") ||
    unreconciled.some(({ count }) => count !== 0);
  return {
    canMove: !hasObstacle,
    controllers: controllers.map(({ args: _args, serviceAccount: _account, ...shown }) => shown),
    takenOver: takenOver(objects, refused),
    refused,
    unreconciled,
    flags,
    settings: asked,
    fluxSettings: restoringSettings(differences, asked),
    needs: needs.map(({ text, ...need }) => ({ ...need, text: safeText(text) })),
    installation,
    differences,
    unread: unread.map(({ what, fault }) => ({ what, fault: safeText(fault) })),
  };
}

async function refusalsOf(
  live: LiveObject,
  { accounts, configMaps }: MigrationFacts,
  rules: Pick<Parameters<typeof specRefusals>[1], "gates" | "meshProvider" | "noCrossNamespaceRefs">,
): Promise<readonly RefusedObject[]> {
  const failures = await specRefusals(live, {
    ...rules,
    hasPullSecrets: (namespace, name) => {
      const account = accounts.get(`${namespace}/${name}`);
      const secrets = account === undefined ? undefined : valueAt(account, "imagePullSecrets");
      return Array.isArray(secrets) && secrets.length > 0;
    },
    configMap: (namespace, name) => configMaps.get(`${namespace}/${name}`),
  });
  const { kind, metadata } = live;
  return failures.map(({ message, reason }) => ({
    ...{ kind, namespace: namespaceOf(live), name: metadata.name, reason },
    message: safeText(message.replace(`${nameOfObject(live)} `, "")),
  }));
}

function takenOver(objects: readonly LiveObject[], refused: readonly RefusedObject[]): readonly TakenOver[] {
  const left = new Set(refused.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`));
  return definedKinds
    .map(({ kind }) => {
      const taken = ofKind(objects, kind).filter((one) => !left.has(nameOfObject(one)));
      const names = taken.map((one) => `${namespaceOf(one)}/${one.metadata.name}`).toSorted();
      return { kind, count: names.length, objects: names };
    })
    .filter(({ count }) => count > 0);
}
