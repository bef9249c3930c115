import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { alertMessage } from "../../../../lib/canary/alerts/alert-message.ts";

const Payload = z.object({
  type: z.enum(["discord", "gchat", "msteams", "rocket", "slack"]),
  severity: z.enum(["info", "warn", "error"]),
  fields: z.array(z.object({ name: z.string(), value: z.string() })),
  message: z.string(),
  path: z.string(),
  posted: z.string(),
  body: z.string(),
  authorization: z.string(),
});
const fixture = join(import.meta.dirname, "../../../fixtures/canary-alerts/payloads.json");
const payloads = z.array(Payload).parse(JSON.parse(await readFile(fixture, "utf8")));

describe("an alert is the same request as Flagger's, byte by byte", () => {
  test.each(payloads.map((each, at) => ({ ...each, at })))("$type $severity $path $at", (recorded) => {
    const { type, path, posted, authorization, body } = recorded;
    const [address, proxy] = [`https://alerts.test${path}`, ""];
    const receiver = { ...{ type, address, proxy, channel: "general", username: "flagger" }, token: "tok" };
    const { severity, fields, message } = recorded;
    const made = alertMessage(receiver, { of: "podinfo.test", severity, fields, message });
    expect({ ...made, url: new URL(made.url).href }).toEqual({
      url: `https://alerts.test${posted}`,
      headers: authorization === "" ? {} : { authorization },
      body,
    });
  });
});
