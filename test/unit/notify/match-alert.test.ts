import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { AlertSpec } from "../../../lib/api/alert.ts";
import { type LabelsOf, matchAlert, maxListChars } from "../../../lib/notify/match-alert.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { kustomizationEvent } from "./sample-events.ts";

const noLabels: LabelsOf = async () => {
  throw new Error("the object need not be read");
};

/** Whether an Alert of namespace `retail` sends the event, and what it says on the way. */
async function matched(
  spec: Partial<z.input<typeof AlertSpec>> = {},
  change: Partial<NotificationEvent> = {},
  labelsOf: LabelsOf = noLabels,
) {
  const whole = { providerRef: { name: "p" }, eventSources: [{ kind: "Kustomization", name: "*" }], ...spec };
  const alert = { namespace: "retail", spec: AlertSpec.parse(whole) };
  const { isMatch, faults } = await matchAlert(kustomizationEvent(change), alert, labelsOf);
  return { isMatch, faults: faults.map(({ reason, message }) => `${reason} ${message}`) };
}
const sends = async (...given: Parameters<typeof matched>) => (await matched(...given)).isMatch;

describe("an Alert", () => {
  test("41: of severity error takes only errors, one of info takes every severity, also unknown ones", async () => {
    const severities = ["info", "error", "trace", "warning", ""];
    const taken = async (eventSeverity: "error" | "info") => {
      const answers = await Promise.all(severities.map((severity) => sends({ eventSeverity }, { severity })));
      return severities.filter((_, index) => answers[index]);
    };
    expect([await taken("info"), await taken("error")]).toEqual([severities, ["error"]]);
  });

  test("42: takes events of its own namespace if a source names none, and of the one that it names", async () => {
    const elsewhere = { involvedObject: { ...kustomizationEvent().involvedObject, namespace: "other" } };
    const named = { eventSources: [{ kind: "Kustomization" as const, name: "shop", namespace: "other" }] };
    expect([await sends(), await sends({}, elsewhere), await sends(named, elsewhere), await sends(named)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test("takes events of Canaries, which Flux's takes from no source", async () => {
    const involvedObject = { kind: "Canary", namespace: "retail", name: "podinfo", apiVersion: "flagger.app/v1beta1" };
    const event = { involvedObject, severity: "error", reason: "Synced", reportingController: "flagger" };
    expect(await sends({ eventSources: [{ kind: "Canary", name: "podinfo" }] }, event)).toBe(true);
    expect(await sends({}, event)).toBe(false);
  });

  test("43: does not take a message that is both included and excluded", async () => {
    const message = { message: "Health check passed: dry-run" };
    const inclusionList = ["passed"];
    expect(await sends({ inclusionList }, message)).toBe(true);
    expect(await sends({ inclusionList, exclusionList: ["^Health.*dry-run$"] }, message)).toBe(false);
  });

  test("ignores and reports expressions beyond the limit of their list", async () => {
    const long = "x".repeat(maxListChars);
    const { isMatch, faults } = await matched({ inclusionList: [long, "Applied"] });
    expect([isMatch, faults.length]).toEqual([false, 1]);
    expect((await matched({ inclusionList: [long.slice(7), "Applied"] })).isMatch).toBe(true);
  });

  test("with long expressions searches only the beginning of a long message", async () => {
    const message = `${"-".repeat(2_000)}needle`;
    expect(await sends({ inclusionList: ["needle"] }, { message })).toBe(true);
    expect(await sends({ inclusionList: ["needle", "x".repeat(4_000)] }, { message })).toBe(false);
  });

  test("44: ignores and reports an expression that does not compile; a list with only such expressions takes nothing", async () => {
    const broken = "(?!x)";
    const told = `InvalidConfig failed to compile inclusion regex: ${broken}`;
    expect(await matched({ inclusionList: [broken, "Applied"] })).toEqual({ isMatch: true, faults: [told] });
    expect(await matched({ inclusionList: [broken] })).toEqual({ isMatch: false, faults: [told] });
    expect(await matched({ exclusionList: [broken] })).toEqual({
      isMatch: true,
      faults: [`InvalidConfig failed to compile exclusion regex: ${broken}`],
    });
  });

  test("ignores and reports an expression that is too long", async () => {
    const { isMatch, faults } = await matched({ inclusionList: ["a".repeat(4_097)] });
    expect([isMatch, faults.length]).toEqual([false, 1]);
  });

  test("50: that is suspended takes nothing and reports nothing", async () => {
    expect(await matched({ suspend: true, inclusionList: ["(?!x)"] })).toEqual({ isMatch: false, faults: [] });
  });
});

describe("a source of an Alert with labels", () => {
  const of = (matchLabels: Record<string, string>) => ({
    eventSources: [{ kind: "Kustomization" as const, name: "*", matchLabels }],
  });
  const live: LabelsOf = async () => ({ team: "x", tier: "web" });

  test("45: takes events of objects that currently have all of them", async () => {
    expect(await sends(of({ team: "x", tier: "web" }), {}, live)).toBe(true);
    expect(await sends(of({ team: "x", tier: "db" }), {}, live)).toBe(false);
    expect(await sends(of({}), {}, live)).toBe(true);
  });

  test("45: takes nothing of an object that cannot be read, with any labels or none, and reports it", async () => {
    const told = ["SourceFetchFailed error getting source object Kustomization/retail/shop"];
    expect(await matched(of({ team: "x" }), {}, async () => undefined)).toEqual({ isMatch: false, faults: told });
    expect(await matched(of({}), {}, async () => undefined)).toEqual({ isMatch: false, faults: told });
  });

  test("that are invalid is reported, and the other sources count", async () => {
    const told = ["InvalidConfig error using matchLabels from event source Kustomization/retail/*"];
    expect(await matched(of({ "not a label": "x" }), {}, live)).toEqual({ isMatch: false, faults: told });
    const both = {
      eventSources: [...of({ team: "-" }).eventSources, { kind: "Kustomization" as const, name: "shop" }],
    };
    expect(await matched(both, {}, live)).toEqual({ isMatch: true, faults: told });
  });
});
