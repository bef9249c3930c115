import { expect, test } from "vitest";
import { readDocument } from "../../../functions/lambda/read-document.ts";
import { Config, readConfig } from "../../../functions/settings/config.ts";
import { never } from "../../contract/state-back-end.ts";
import { faultyWire } from "../../doubles/faulty-wire.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";
import { installationVariables } from "../../doubles/put-installation.ts";

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };

/** What a function reads whose bucket holds `stored`, and whose environment names the digest of `deployed`. */
async function read(stored: string | undefined, deployed = stored ?? "") {
  const missing = {
    status: 404,
    headers: { "content-type": "application/xml" },
    body: "<Error><Code>NoSuchKey</Code></Error>",
  };
  const answer = { status: 200, headers: { "content-length": String(stored?.length) }, body: stored ?? "" };
  await using wire = await faultyWire(undefined, () => (stored === undefined ? missing : answer));
  const config = readConfig(Config, { ...functionEnvironment, ...installationVariables("sluice-assets", deployed) });
  const document = await readDocument(config, { region: "eu-west-1", endpoint: wire.url, credentials }, never);
  return { document, seen: wire.seen };
}

test("the document of an installation is read from its bucket", async () => {
  const { document, seen } = await read(JSON.stringify({ version: 1, clusters: [{ arn }] }));
  expect(document.clusters).toMatchObject([{ arn, network: "default" }]);
  expect(seen).toEqual([expect.stringContaining("GET /sluice-assets/installation.json")]);
});

test.each([
  { what: "is missing", stored: undefined, why: /there is none; deploy/ },
  {
    what: "was changed after the deploy",
    stored: '{"version":1,"clusters":["hunter2"]}',
    deployed: "{}",
    why: /its digest is not SLUICE_INSTALLATION_DIGEST/,
  },
  {
    what: "has faults, all of them named",
    stored: '{"version":"hunter2"}',
    why: /: version must be 1.*; clusters must be a list/,
  },
  {
    what: "has a cluster in a network without a queue",
    stored: JSON.stringify({ version: 1, clusters: [{ arn, network: "blue" }] }),
    why: /SLUICE_QUEUE_URLS has no queue for its networks blue/,
  },
])("a document that $what is refused without quoting any value of it", async ({ stored, deployed, why }) => {
  const error: unknown = await read(stored, deployed).catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(
    /^Error: the document of the installation is not usable, SLUICE_INSTALLATION_KEY in bucket sluice-assets: /,
  );
  expect(String(error)).toMatch(why);
  expect(String(error)).not.toContain("hunter2");
});
