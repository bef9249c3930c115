import { describe, expect, test } from "vitest";
import { checkAdmission } from "../../../cli/check-admission.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type ApplyOptions } from "../../../lib/core/ports/cluster.ts";
import { webhookAnswers } from "../../../lib/definitions/admission-webhook.ts";
import { never } from "../../contract/state-back-end.ts";
import { noCluster } from "../../doubles/no-cluster.ts";

const webhook: LiveObject = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "sluice-admission", uid: "u" },
};

/** What the check says of a cluster with this configuration, where a dry run ends so. */
async function checked(live: LiveObject | undefined, dryRun: () => readonly string[]) {
  const said: string[] = [];
  const options: ApplyOptions[] = [];
  const say = (what: string) => (line: string) => void said.push(`${what}: ${line}`);
  const cluster = {
    ...noCluster,
    get: async () => live,
    apply: async (_: unknown, given: ApplyOptions) => {
      options.push(given);
      return { object: webhook, created: true, warnings: dryRun() };
    },
  };
  const terminal = { action: say("asks"), success: say("good"), warning: say("warns") };
  const answer = await checkAdmission({ cluster, terminal, signal: never });
  return { answer, said, options };
}

describe("the check of the admission webhook", () => {
  test("succeeds if the webhook answers a dry run", async () => {
    const { answer, said, options } = await checked(webhook, () => ["something else", webhookAnswers]);
    expect(answer).toEqual({ answers: true });
    expect(said).toEqual(["asks: checking the admission webhook", "good: it is called, and answers"]);
    expect(options).toEqual([expect.objectContaining({ dryRun: true })]);
  });

  test("says where to look if the webhook does not answer", async () => {
    const { answer, said } = await checked(webhook, () => []);
    expect([answer, said.at(-1)]).toEqual([
      { answers: false },
      expect.stringMatching(/no answer.*docs\/admission\.md/),
    ]);
  });

  test("says that it cannot tell if the dry run is refused", async () => {
    const { answer, said } = await checked(webhook, () => {
      throw new ApiError({ code: 403, reason: "Forbidden", message: "may not patch kustomizations" });
    });
    expect(answer).toEqual({ answers: null, fault: "may not patch kustomizations" });
    expect(said.at(-1)).toContain("not known whether");
  });

  test("says nothing if there is no webhook", async () => {
    expect(await checked(undefined, () => [])).toEqual({ answer: undefined, said: [], options: [] });
  });
});
