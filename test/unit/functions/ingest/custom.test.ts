import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { CustomDetail, customDetailType, customSource, maxCustomChars } from "../../../../functions/ingest/custom.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { ingestWorld } from "./ingest-world.ts";

const docs = join(import.meta.dirname, "../../../../docs");
const cluster = "arn:aws:eks:eu-central-1:123456789012:cluster/prod";
const app: WorkKey = {
  cluster,
  group: "source.toolkit.fluxcd.io",
  kind: "OCIRepository",
  namespace: "apps",
  name: "web",
};

/** As `aws events put-events` with the documented entry has it. */
const event = (detail: unknown) => ({
  version: "0",
  id: "01234567-EXAMPLE",
  source: customSource,
  "detail-type": customDetailType,
  account: "123456789012",
  region: "eu-central-1",
  time: "2026-11-23T02:00:00Z",
  resources: [],
  detail,
});

describe("a custom event", () => {
  test("wakes the sources that follow a ref of a repository, by any of its addresses", async () => {
    using world = await ingestWorld({
      main: { topic: "git#git.example.com/team/app", follows: { kind: "names", names: ["refs/heads/main"] } },
      next: { topic: "git#git.example.com/team/app", follows: { kind: "names", names: ["refs/heads/next"] } },
    });
    const url = "ssh://git@git.example.com:2222/team/app.git";
    expect(await world.ingest(event({ git: { url, ref: "refs/heads/main" } }))).toEqual(["main"]);
    expect(await world.ingest(event({ git: { url } }))).toEqual(["main", "next"]);
  });

  test("wakes the sources that follow a tag in any registry, and a key in any bucket", async () => {
    using world = await ingestWorld({
      v1: { topic: "repo#ghcr.io/team/app", follows: { kind: "names", names: ["v1"] } },
      bucket: { topic: "s3#configuration", follows: { kind: "prefix", prefix: "prod/" } },
    });
    expect(await world.ingest(event({ oci: { url: "oci://ghcr.io/team/app", tag: "v1" } }))).toEqual(["v1"]);
    expect(await world.ingest(event({ oci: { url: "oci://ghcr.io/team/app", tag: "v2" } }))).toEqual([]);
    expect(await world.ingest(event({ bucket: { name: "configuration", key: "prod/a.yaml" } }))).toEqual(["bucket"]);
  });

  test("wakes the sources of an ECR repository by any host name of the registry", async () => {
    using world = await ingestWorld({ web: "repo#123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app" });
    for (const host of ["123456789012.dkr-ecr.eu-west-1.on.aws", "123456789012.dkr.ecr.eu-west-1.amazonaws.com:443"]) {
      expect(await world.ingest(event({ oci: { url: `oci://${host}/team/app` } }))).toEqual(["web"]);
    }
  });

  test("wakes an existing object, and no other", async () => {
    using world = await ingestWorld({}, {}, [app]);
    const { kind, namespace, name } = app;
    expect(await world.ingest(event({ object: { cluster, kind, namespace, name } }))).toEqual(["web"]);
    expect(await world.ingest(event({ object: { cluster, kind, namespace, name: "gone" } }))).toEqual([]);
    expect(world.refused()).toBe(0);
  });

  test.each([
    { name: "two things at once", detail: { git: { url: "https://h/a" }, bucket: { name: "b" } } },
    { name: "nothing", detail: {} },
    {
      name: "a kind that is not a source",
      detail: { object: { cluster, kind: "Kustomization", namespace: "a", name: "b" } },
    },
    {
      name: "a name with a slash",
      detail: { object: { cluster, kind: "OCIRepository", namespace: "a", name: "b/c" } },
    },
    { name: "a branch without its folder", detail: { git: { url: "https://h/a", ref: "main" } } },
    { name: "a repository with a tag in it", detail: { oci: { url: "oci://ghcr.io/team/app:v1" } } },
    { name: "an unknown field", detail: { bucket: { name: "b", prefix: "c" } } },
    { name: "a text that is too long", detail: { git: { url: `https://h/${"a".repeat(maxCustomChars)}` } } },
  ])("with $name is refused and counted", async ({ detail }) => {
    using world = await ingestWorld({}, {}, [app]);
    expect(await world.ingest(event(detail))).toEqual([]);
    expect(world.refused()).toBe(1);
  });

  test("matches docs/events.schema.json, and the event in docs/events.md is accepted", async () => {
    const schema: unknown = JSON.parse(await readFile(join(docs, "events.schema.json"), "utf8"));
    expect(z.toJSONSchema(CustomDetail)).toEqual(schema);
    const [, shown = ""] = /put-events --entries '([^']+)'/.exec(await readFile(join(docs, "events.md"), "utf8")) ?? [];
    const Entry = z.object({
      Source: z.literal(customSource),
      DetailType: z.literal(customDetailType),
      Detail: z.string(),
    });
    const [entry] = z.tuple([Entry]).parse(JSON.parse(shown));
    using world = await ingestWorld({ web: "git#git.example.com/team/app" });
    expect(await world.ingest(event(JSON.parse(entry.Detail)))).toEqual(["web"]);
  });
});
