import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { z } from "zod";

const folder = process.env["SLUICE_REAL_GATEWAY_API"];
const copy = join(import.meta.dirname, "../../local/demo/gateway-api/httproutes.json");

const Definition = z.looseObject({
  metadata: z.looseObject({ creationTimestamp: z.null().optional() }),
  spec: z.looseObject({ versions: z.array(z.looseObject({ name: z.string() })) }),
});

test.skipIf(folder === undefined)(
  "the demo's definition of HTTPRoute is that of the Go module, version v1 without descriptions (set SLUICE_REAL_GATEWAY_API)",
  async () => {
    const text = await readFile(join(folder ?? "", "gateway.networking.k8s.io_httproutes.yaml"), "utf8");
    // What the API server writes is left out of the copy.
    const { metadata, spec, status: _status, ...rest } = Definition.parse(load(text));
    const { creationTimestamp: _created, ...named } = metadata;
    const versions = spec.versions.filter(({ name }) => name === "v1");
    const wanted = JSON.stringify({ ...rest, metadata: named, spec: { ...spec, versions } }, withoutDescription);
    expect(JSON.parse(await readFile(copy, "utf8"))).toEqual(JSON.parse(wanted));
  },
);

function withoutDescription(key: string, value: unknown): unknown {
  return key === "description" && typeof value === "string" ? undefined : value;
}
