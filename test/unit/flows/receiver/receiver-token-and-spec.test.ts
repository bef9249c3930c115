import { describe, expect, test } from "vitest";
import { maxReceiverEvents, maxReceiverResources } from "../../../../lib/api/receiver.ts";
import { receiverWorld, token } from "../../receiver/receiver-world.ts";
import { never, path, ready } from "./ready-receiver.ts";

describe("the token of a Receiver", () => {
  const cases: readonly { name: string; data: Record<string, string> | undefined; message: string }[] = [
    {
      name: "whose Secret is missing",
      data: undefined,
      message: `unable to read token from secret 'retail/token' error: secrets "token" not found`,
    },
    {
      name: "that its Secret does not have",
      data: { password: "x" },
      message: "invalid 'retail/token' secret data: required fields 'token'",
    },
    {
      name: "that is empty, which Flux accepts",
      data: { token: "" },
      message: "invalid 'retail/token' secret data: the field 'token' is empty: store a long random text in it",
    },
  ];
  test.each(cases)(
    "22: $name gives TokenNotFound, and the run retries with longer and longer waits",
    async ({ data, message }) => {
      const world = receiverWorld();
      if (data !== undefined) world.secret(data);
      world.receiver({});
      expect(await world.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
      expect(world.conditions()).toEqual(["Reconciling=True ProgressingWithRetry", "Ready=False TokenNotFound"]);
      expect(world.messageOf("Ready")).toBe(message);
      expect(world.messageOf("Reconciling")).toBe("Reconciliation in progress");
      expect(world.status().observedGeneration).toBe(-1);
      expect(world.told()).toEqual([`Warning Failed ${message}`]);
      expect(await world.run()).toMatchObject({ dueInMs: 1_500 });
      expect(world.told()).toHaveLength(1);
      world.secret({ token });
      await world.run();
      expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    },
  );

  test("21: that is deleted removes the path from the status and from service", async () => {
    const world = await ready();
    world.delete("Secret", "token");
    await world.run();
    expect(world.status().webhookPath).toBeUndefined();
    expect(await world.receivers.find(path, never)).toEqual([]);
  });

  test("may contain any bytes, and never appears in status, event, log or index entry", async () => {
    const world = receiverWorld();
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x41]);
    world.secret({});
    const secret = world.objects.get("Secret/retail/token");
    if (secret === undefined) throw new Error("no Secret");
    world.objects.set("Secret/retail/token", { ...secret, data: { token: bytes.toString("base64") } });
    world.receiver({});
    await world.run();
    // Of sha256(ff fe 00 41 ‖ "shop-hook" ‖ "retail").
    expect(world.path()).toBe("/hook/14fee0279713327ef23bc5ad6e723033d8a5b376af1bc93e737f32062e277123");
    const found = JSON.stringify(await world.receivers.find(world.path(), never));
    for (const text of [world.text(), found]) {
      expect(text).not.toContain(bytes.toString("base64"));
      expect(text).not.toContain(bytes.toString("latin1"));
    }
  });

  test("with an invalid Secret name gives TokenNotFound without any request", async () => {
    const world = receiverWorld();
    world.receiver({ secretRef: { name: "../x" } });
    await world.run();
    expect(world.messageOf("Ready")).toContain("invalid resource name");
  });
});

describe("a Receiver whose spec is invalid", () => {
  test.each([
    { name: "no secretRef", spec: { secretRef: null }, fault: "secretRef is required when type is not generic-oidc" },
    {
      name: "oidcProviders of another type",
      spec: { oidcProviders: [{ issuerURL: "https://a", validations: [{ expression: "true", message: "x" }] }] },
      fault: "oidcProviders can only be set when type is generic-oidc",
    },
  ])("33: and stored with $name stalls with ValidationFailed", async ({ spec, fault }) => {
    const world = receiverWorld();
    world.secret({ token });
    world.receiver(spec);
    expect(await world.run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    expect(world.conditions()).toEqual(["Stalled=True ValidationFailed", "Ready=False ValidationFailed"]);
    const message = `Reconciliation failed terminally due to configuration error: ${fault}`;
    expect([world.messageOf("Ready"), world.messageOf("Stalled")]).toEqual([message, message]);
    expect(world.told()).toEqual([`Warning ValidationFailed ${message}`]);
    expect(world.status().observedGeneration).toBe(1);
  });

  test("sends one more event if the spec changes and fails in the same way", async () => {
    const world = receiverWorld();
    for (const interval of ["10m", "20m"]) {
      world.receiver({ secretRef: null, interval });
      await world.run();
      await world.run();
    }
    const fault = "secretRef is required when type is not generic-oidc";
    const told = `Warning ValidationFailed Reconciliation failed terminally due to configuration error: ${fault}`;
    expect(world.told()).toEqual([told, told]);
  });

  test("answers at its path that it is not ready, if it was ready before", async () => {
    const world = await ready();
    world.receiver({ secretRef: null });
    await world.run();
    expect(world.path()).toBe(path);
    expect(await world.receivers.find(path, never)).toMatchObject([{ entry: { state: "not ready" } }]);
  });

  test("without resources, or of an unknown type, names the field", async () => {
    for (const [spec, field] of [
      [{ resources: null }, "spec.resources"],
      [{ type: "gitea" }, "spec.type"],
    ] as const) {
      const world = receiverWorld();
      world.receiver(spec);
      await world.run();
      expect(world.conditions()).toEqual(["Stalled=True InvalidSpec", "Ready=False InvalidSpec"]);
      expect(world.messageOf("Ready")).toContain(`Receiver/retail/shop-hook is invalid: ${field}: `);
    }
  });

  test("with empty lists is accepted, as in Flux, and wakes nothing", async () => {
    const world = await ready({ resources: [], oidcProviders: [] });
    expect(world.conditions()).toEqual(["Ready=True Succeeded"]);
    expect(await world.deliver()).toBe(200);
    expect(world.requested).toEqual([]);
  });

  test("with too many resources or events names the limit", async () => {
    const world = receiverWorld();
    const resources = Array.from({ length: maxReceiverResources + 1 }, (_, index) => ({
      kind: "OCIRepository",
      name: `a${index}`,
    }));
    world.receiver({ resources, events: Array.from({ length: maxReceiverEvents + 1 }, () => "push") });
    await world.run();
    expect(world.messageOf("Ready")).toContain("spec.resources: has 1001 items, 1000 are allowed");
    expect(world.messageOf("Ready")).toContain("spec.events: has 1001 items, 1000 are allowed");
  });
});
