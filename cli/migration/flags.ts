import { z } from "zod";
import { gateTexts } from "../../functions/settings/feature-gates.ts";
import { unhonouredFlags } from "../../functions/settings/flux-flags.ts";
import { defaultSettings, Settings } from "../../functions/settings/settings.ts";
import { defaultGates, type FeatureGates } from "../../lib/core/feature-gates.ts";
import type { Json, JsonObject } from "../../lib/core/json.ts";
import { meshProviderRefusal } from "../../lib/flows/kinds/spec-refusals.ts";
import type { FoundController } from "./controllers.ts";
import { decisive, gatesNotHonoured, gatesWithoutEffect, isTrue, secretFlags, sharedFlags } from "./flags-by-effect.ts";
import { type Given, gatePrefix, givenFlags, isGate } from "./given-flags.ts";

/**
 * What becomes of a flag: `setting` is to be written into the settings, `default` is what Sluice does anyway, `noEffect` changes nothing of
 * what is applied, and `refused` is not honoured although it does.
 */
export type FlagVerdict = "default" | "noEffect" | "refused" | "setting";

/** A flag of a controller, or one of its feature gates: `feature-gates.ExternalArtifact`. */
export interface FoundFlag {
  readonly flag: string;
  /** The controllers that have it. */
  readonly controllers: readonly string[];
  readonly verdict: FlagVerdict;
  /** Why it is refused, or has no effect; for a setting what else there is to know of it. */
  readonly reason?: string;
}

/** The flags of all controllers, judged, and the settings that they become. */
export interface JudgedFlags {
  readonly flags: readonly FoundFlag[];
  /** A document of settings: what differs from Sluice's defaults. */
  readonly settings: JsonObject;
  readonly noCrossNamespaceRefs: boolean;
  readonly defaultServiceAccount: string;
  readonly gates: FeatureGates;
  /** Who routes the traffic of a Canary that names no provider. */
  readonly meshProvider: string;
}

/** Judges the flags by the code that reads settings: a value that it refuses is refused. Pure. */
export function judgeFlags(controllers: readonly FoundController[]): JudgedFlags {
  const installed = new Set(controllers.map(({ name }) => name));
  const judged = givenFlags(controllers).map((given) => judge(given, installed));
  const { document, faults } = settled(Object.fromEntries(judged.flatMap(({ setting }) => setting ?? [])));
  const flags = judged.map(({ found }) => {
    const fault = faults.get(found.flag);
    return fault === undefined ? found : { ...found, verdict: "refused" as const, reason: fault };
  });
  const values = Settings.parse(document);
  return {
    flags: flags.toSorted((a, b) => (a.flag < b.flag ? -1 : 1)),
    settings: document,
    noCrossNamespaceRefs: values["no-cross-namespace-refs"],
    defaultServiceAccount: values["default-service-account"],
    gates: values["feature-gates"],
    meshProvider: values["mesh-provider"],
  };
}

interface Judged {
  readonly found: FoundFlag;
  readonly setting?: readonly (readonly [string, Json])[];
}

function judge({ flag, values }: Given, installed: ReadonlySet<string>): Judged {
  const controllers = [...values.keys()].toSorted();
  const found = (verdict: FlagVerdict, reason?: string): Judged => ({
    found: { flag, controllers, verdict, ...(reason === undefined ? {} : { reason }) },
  });
  const texts = [...values.values()];
  const [first = []] = texts;
  const last = first.at(-1) ?? "";
  const idle = isGate(flag) ? idleGate(flag.slice(gatePrefix.length), last) : unhonouredFlags.get(flag);
  if (idle !== undefined) {
    const decides =
      !isGate(flag) && Object.hasOwn(decisive, flag) && texts.flat().some((text) => decisive[flag]?.(text));
    return found(decides ? "refused" : "noEffect", idle);
  }
  const missing = isGate(flag) ? gatesNotHonoured[flag.slice(gatePrefix.length)] : undefined;
  if (missing !== undefined) return found("refused", missing);
  if (!isGate(flag) && !Object.hasOwn(Settings.shape, flag)) {
    return found("refused", "Sluice does not know this flag: remove it, or use a release that knows it");
  }
  if (texts.some((each) => JSON.stringify(each) !== JSON.stringify(first))) {
    return found(
      "refused",
      `its value differs by controller, and Sluice has one for all: make it the same in ${controllers.join(" and ")}`,
    );
  }
  if (isSecret(flag, first))
    return found("setting", "its value may be a secret and is not shown: copy it from the Deployment");
  if (first.some((text) => text.includes("$("))) {
    return found("refused", "its value comes from the environment of the controller: write the value itself");
  }
  const unrouted = flag === "mesh-provider" ? meshProviderRefusal(last) : undefined;
  if (unrouted !== undefined) return found("refused", unrouted);
  const value = valueOf(flag, first);
  if (isDefault(flag, value)) return found("default");
  const lacking = (sharedFlags[flag] ?? []).filter((name) => installed.has(name) && !values.has(name));
  const shared =
    lacking.length === 0 ? undefined : `with Sluice it also holds for the objects of ${lacking.join(" and ")}`;
  return { ...found("setting", shared), setting: [[flag, value]] };
}

/** Why a gate with this value means nothing to Sluice; undefined for one that does. */
function idleGate(gate: string, value: string): string | undefined {
  const known = gatesWithoutEffect[gate];
  if (known !== undefined) return known;
  if (!Object.hasOwn(gateTexts, gate)) return isTrue(value) ? undefined : "it is off";
  return gateTexts[gate]?.only?.why;
}

function isSecret(flag: string, values: readonly string[]): boolean {
  return secretFlags.has(flag) || values.some((text) => /:\/\/[^/?#]*@/.test(text));
}

/** The value in the type that the setting has. What fits none stays text, which the schema then refuses. */
function valueOf(flag: string, values: readonly string[]): Json {
  const text = values.at(-1) ?? "";
  if (isGate(flag)) return isTrue(text) ? true : /^(0|f|false)$/i.test(text) ? false : text;
  const schema = shapeOf(flag);
  const several: Json = values.length > 1 ? [...values] : text;
  const candidates: readonly Json[] = [several, text.split(","), Number(text), isTrue(text)];
  return candidates.find((one) => schema.safeParse(one).success) ?? text;
}

function shapeOf(flag: string): z.ZodType {
  const found: unknown = Object.entries(Settings.shape).find(([name]) => name === flag)?.[1];
  return found instanceof z.ZodType ? found : z.never();
}

function isDefault(flag: string, value: Json): boolean {
  if (isGate(flag)) {
    const gates: Readonly<Record<string, boolean>> = defaultGates;
    return gates[flag.slice(gatePrefix.length)] === value;
  }
  const usual = Object.entries(defaultSettings).find(([name]) => name === flag)?.[1];
  return JSON.stringify(shapeOf(flag).safeParse(value).data) === JSON.stringify(usual);
}

/** The document without what the schema refuses, and why it does, by flag. */
function settled(flags: Readonly<Record<string, Json>>): {
  readonly document: JsonObject;
  readonly faults: ReadonlyMap<string, string>;
} {
  const faults = new Map<string, string>();
  for (;;) {
    const kept = Object.entries(flags).filter(([flag]) => !faults.has(flag));
    const document = documentOf(kept);
    const issues = Settings.safeParse(document).error?.issues ?? [];
    if (issues.length === 0) return { document, faults };
    for (const { path, message } of issues) {
      const key = path[0] === "feature-gates" ? path.slice(0, 2).join(".") : String(path[0]);
      // A rule about two settings names the one that has its default.
      const wrong = kept.filter(([flag]) => flag === key || (!Object.hasOwn(flags, key) && message.includes(flag)));
      for (const [flag] of wrong.length === 0 ? kept : wrong) {
        faults.set(flag, flag === key ? message : `${key} ${message}`);
      }
    }
  }
}

function documentOf(flags: readonly (readonly [string, Json])[]): JsonObject {
  const gates = flags.filter(([flag]) => isGate(flag));
  return {
    ...Object.fromEntries(flags.filter(([flag]) => !isGate(flag))),
    ...(gates.length === 0
      ? {}
      : { "feature-gates": Object.fromEntries(gates.map(([flag, value]) => [flag.slice(gatePrefix.length), value])) }),
  };
}
