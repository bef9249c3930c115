import { expect, test } from "vitest";
import { askedOf, serverWorld } from "./server-world.ts";

const provider = { type: "influxdb", address: "http://influx.example.com" } as const;
const secret = { token: "t", org: "my org" };
const head = `#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string,string\r
#group,false,false,true,true,false,false,true,true,true,true\r
#default,_result,,,,,,,,,\r
,result,table,_start,_stop,_time,_value,_field,_measurement,a,b\r
`;
const ask = (body: string, status = 200) => serverWorld(provider, { secret, answers: [{ body, status }] });
const row = (value: string, field = "f") =>
  `,,0,2020-02-17T22:19:49Z,2020-02-18T22:19:49Z,2020-02-18T10:34:08Z,${value},${field},test,1,x\r\n`;

test("the first record of InfluxDB's answer counts", async () => {
  const world = ask(`${head}${row("1.4")}${row("6.6")}\r\n`);
  expect(await world.query('from(bucket: "default") |> range(start: -2h)')).toBe(1.4);
  expect(askedOf(world)).toEqual([
    {
      asked: "POST http://influx.example.com/api/v2/query?org=my+org",
      headers: { authorization: "Token t", "content-type": "application/json" },
      body: '{"dialect":{"annotations":["datatype","group","default"],"delimiter":",","header":true},"query":"from(bucket: \\"default\\") |> range(start: -2h)","type":"flux"}',
    },
  ]);
});

test("quoted fields in InfluxDB's answer may contain commas, line feeds and quotes", async () => {
  expect(await ask(head + row("2", '"a,\n""b"""')).query("q")).toBe(2);
});

test.each([[""], [head], ["\r\n"], [`${head}\r\n`]])(
  "an answer of InfluxDB without a record has no data: %j",
  async (body) => {
    expect(await ask(body).query("q")).toBe("none: no values found");
  },
);

test("a record of InfluxDB without a value has no data, and a value of another type than double is an invalid response", async () => {
  expect(await ask(head + row("")).query("q")).toMatch(/^none: invalid response: .*no values found$/);
  expect(await ask(head.replace("double", "long") + row("3")).query("q")).toMatch(/^invalid response: .*_value:3/);
});

test("an error inside InfluxDB's answer is reported", async () => {
  const body =
    "#datatype,string,long\n#group,true,true\n#default,,\n,error,reference\n,failed to create physical plan,897\n";
  expect(await ask(body).query("q")).toBe("query error: failed to create physical plan");
});

test.each([
  ['{"code":"unauthorized","message":"unauthorized access"}', 401, "unauthorized: unauthorized access"],
  ["bad gateway", 502, "502 Bad Gateway: bad gateway"],
])("an error status of InfluxDB is reported: %s", async (body, status, text) => {
  expect(await ask(body, status).query("q")).toBe(`error accessing influxdb query api: ${text}`);
  expect(await ask(body, status).probe()).toBe(`error accessing influxdb query api: ${text}`);
});

test("InfluxDB is online if it accepts a query", async () => {
  expect(await ask("").probe()).toBe("online");
});

test.each([
  [{ type: "influxdb" } as const, secret, "influxdb address  is not a valid URL"],
  [provider, { org: "o" }, "influxdb credentials does not contain an authentication token"],
  [provider, { token: "t" }, "influxdb credentials does not contain an organisation"],
])("InfluxDB needs address, token and organisation: %#", async (given, data, text) => {
  expect(await serverWorld(given, { secret: data }).query("q")).toBe(text);
});
