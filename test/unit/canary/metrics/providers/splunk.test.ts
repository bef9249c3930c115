import { expect, test } from "vitest";
import { askedOf, serverWorld } from "./server-world.ts";

const secret = { sf_token_key: "t" };
const program = "data('service.request.count').sum().publish()";
const data = (...points: readonly object[]) =>
  `event: data\ndata: ${JSON.stringify({ data: points, logicalTimestampMs: 1 })}\n\n`;
const start = 'event: control-message\ndata: {"event":"STREAM_START","timestampMs":1}\n\n';
const end = 'event: control-message\ndata: {"event":"END_OF_CHANNEL","timestampMs":2}\n\n';
const ask = (body: string, status = 200, address = "https://api.us1.signalfx.com") =>
  serverWorld({ type: "splunk", address }, { secret, answers: [{ body, status }] });

test("Splunk gets one computation over ten intervals, and its last value counts", async () => {
  const world = ask(
    start +
      data({ tsId: "AAA", value: 1 }) +
      data({ tsId: "AAA", value: 2.5 }) +
      data({ tsId: "AAA", value: null }) +
      end,
  );
  expect(await world.query(program)).toBe(2.5);
  expect(askedOf(world)).toEqual([
    {
      asked:
        "POST https://stream.us1.signalfx.com/v2/signalflow/execute?immediate=true&start=1795348200000&stop=1795348800000",
      headers: { "content-type": "text/plain", "x-sf-token": "t" },
      body: program,
    },
  ]);
});

test.each([
  ["https://api.us1.signalfx.com", "https://stream.us1.signalfx.com", "https://api.us1.signalfx.com"],
  ["wss://stream.us1.signalfx.com", "https://stream.us1.signalfx.com", "https://api.us1.signalfx.com"],
])("from the address %s Splunk's stream and API addresses are derived", async (address, streams, api) => {
  const world = ask(data({ tsId: "A", value: 1 }), 200, address);
  await world.query("q");
  expect(await world.probe()).toBe("online");
  expect(askedOf(world).map(({ asked }) => asked.split(" ")[1]?.split("?")[0])).toEqual([
    `${streams}/v2/signalflow/execute`,
    `${api}/v2/metric`,
  ]);
});

test.each([
  ["none", start + end, "none: invalid response: no values found"],
  ["none", data({ tsId: "A", value: null }), "none: invalid response: no values found"],
  [
    "those of two series",
    data({ tsId: "A", value: 1 }, { tsId: "B", value: 1 }),
    "invalid response: query returned multiple values",
  ],
  ["text", data({ tsId: "A", value: "1" }), "invalid response: UnsupportedValueType"],
  [
    "an error",
    'event: error\ndata: {"errors":[{"code":"ANALYTICS_PROGRAM_NAME_ERROR"}]}\n\n',
    'error executing query: {"errors":[{"code":"ANALYTICS_PROGRAM_NAME_ERROR"}]}',
  ],
])("these values of Splunk are not accepted: %s", async (_title, body, text) => {
  expect(await ask(body).query("q")).toBe(text);
});

test("the message quotes why Splunk refused the query", async () => {
  expect(await ask("no", 401).query("q")).toBe("error executing query: 401 Unauthorized: no");
  expect(await ask("no", 401).probe()).toBe("error response: no");
});

test("Splunk needs address and token", async () => {
  expect(await serverWorld({ type: "splunk" }, { secret }).query("q")).toBe("splunk endpoint is not set");
  expect(await serverWorld({ type: "splunk", address: "https://a" }).query("q")).toBe(
    "splunk credentials does not contain sf_token_key",
  );
});
