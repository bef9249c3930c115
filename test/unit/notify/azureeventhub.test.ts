import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { azureeventhub } from "../../../lib/notify/providers/azureeventhub.ts";
import { recordedSteps } from "./recorded-deliveries.ts";
import { type Answer, recordingParts, settingsOf } from "./recording-http.ts";

const never = new AbortController().signal;
const connection =
  "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=flux;SharedAccessKey=Z29sZGVu=;EntityPath=events";
const jwt = { address: "events", channel: "shop", token: "golden.json.token" };

async function send(settings: Partial<ProviderSettings>, answer: Answer = { status: 201, body: "" }) {
  const parts = recordingParts(answer);
  const [step] = recordedSteps("notify-generic");
  const [event] = step?.events ?? [];
  if (event === undefined) throw new Error("the recording has no event");
  let fault = "";
  try {
    await azureeventhub(settingsOf({ type: "azureeventhub", ...settings }), parts).post(event, never);
  } catch (error) {
    fault = messageOf(error);
  }
  return { fault, requests: parts.requests, recorded: step?.deliveries[0]?.raw };
}

describe("a Provider of type azureeventhub", () => {
  test("sends the event with a signature by the key of the connection string", async () => {
    const { fault, requests, recorded } = await send({ address: connection });
    expect(fault).toBe("");
    const [request] = requests;
    expect(request?.url).toBe("https://shop.servicebus.windows.net/events/messages?timeout=60&api-version=2014-01");
    expect(Buffer.from(request?.body ?? []).toString()).toBe(recorded);
    const expiry = Date.UTC(2026, 2, 2, 12, 31, 8) / 1000;
    const resource = "https%3A%2F%2Fshop.servicebus.windows.net%2Fevents";
    const signature = createHmac("sha256", "Z29sZGVu=").update(`${resource}\n${expiry}`).digest("base64");
    expect(request?.headers).toEqual({
      "user-agent": "sluice",
      "content-type": "application/atom+xml;type=entry;charset=utf-8",
      authorization: `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=flux`,
    });
  });

  test("sends the event with a JSON Web Token to a namespace with or without its domain", async () => {
    for (const channel of ["shop", "shop.servicebus.windows.net"]) {
      const { requests } = await send({ ...jwt, channel });
      expect(requests).toMatchObject([
        {
          url: "https://shop.servicebus.windows.net/events/messages?timeout=60&api-version=2014-01",
          headers: { authorization: "Bearer golden.json.token" },
        },
      ]);
    }
  });

  test("reports why the event was refused", async () => {
    expect((await send(jwt, { status: 401, body: "no" })).fault).toBe(
      "failed to send msg: request failed: request failed with status code 401: no",
    );
  });

  const [unequal, sas] = ["invalid authentication options: ", "failed to create a eventhub using SAS: "];
  test.each<{ settings: Partial<ProviderSettings>; fault: string }>([
    { settings: {}, fault: `${unequal}endpoint URL cannot be empty` },
    {
      settings: { address: connection, token: "t" },
      fault: `${unequal}jwt token and SAS authentication cannot be set at the same time`,
    },
    {
      settings: { address: "events", channel: "shop" },
      fault:
        "failed to create a eventhub using managed identity: failed to get token: Sluice has no managed identity of Azure",
    },
    {
      settings: { ...jwt, channel: "evil.test/?x=.servicebus.windows.net" },
      fault: "invalid namespace of a eventhub: 'evil.test/?x=.servicebus.windows.net'",
    },
    {
      settings: { address: connection.replace(";EntityPath=events", "") },
      fault: `${sas}connection string does not contain an EntityPath. eventHub cannot be an empty string`,
    },
    { settings: { address: "SharedAccessKey=k" }, fault: `${sas}key "Endpoint" must not be empty` },
    {
      settings: { address: connection.replace("SharedAccessKeyName=flux;", "") },
      fault: `${sas}key "SharedAccessKeyName" must not be empty`,
    },
    {
      settings: { address: connection.replace("SharedAccessKey=Z29sZGVu=;", "") },
      fault: `${sas}key "SharedAccessKey" or "SharedAccessSignature" cannot both be empty`,
    },
    {
      settings: { address: `${connection};golden` },
      fault: `${sas}failed parsing connection string due to unmatched key value separated by '='`,
    },
  ])("sends nothing and reports: $fault", async ({ settings, fault }) => {
    const outcome = await send(settings);
    expect(outcome.fault).toBe(fault);
    expect(outcome.requests).toEqual([]);
  });
});
