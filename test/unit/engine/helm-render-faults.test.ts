import { afterAll, describe, expect, test } from "vitest";
import { maxLongIntegers } from "../../../lib/core/json.ts";
import type { Lookup } from "../../../lib/core/ports/helm-engine.ts";
import { maxLookupBytes, maxLookups } from "../../../lib/engine/wasm-helm.ts";
import { configMap, forever, inputOf, limits, nothing, oneHelm, rendering } from "./rendered-charts.ts";

const helm = oneHelm();
const rendered = rendering(helm);
afterAll(() => helm.close());

describe("a template that looks objects up", () => {
  const template = {
    "templates/cm.yaml": `${configMap}data: {port: "{{ (lookup "v1" "Service" "retail" "db").spec.port }}"}\n`,
  };

  test("gets the host's answers, requested once per object", async () => {
    const asked: unknown[] = [];
    const twice = {
      ...template,
      "templates/b.yaml": template["templates/cm.yaml"].replace("{{ .Release.Name }}", "other"),
    };
    const { observed } = await rendered(twice, {}, async (query) => {
      asked.push(query);
      return { spec: { port: 5432 } };
    });
    expect(observed.objects[0]?.manifest["data"]).toEqual({ port: "5432" });
    expect(asked).toEqual([{ apiVersion: "v1", kind: "Service", namespace: "retail", name: "db" }]);
  });

  test("gets every digit of a 64-bit integer", async () => {
    const { observed } = await rendered(template, {}, async () => ({ spec: { port: 9_007_199_254_740_993n } }));
    expect(observed.objects[0]?.manifest["data"]).toEqual({ port: "9007199254740993" });
  });

  test("fails with the host's message", async () => {
    const refused = rendered(template, {}, async () => {
      throw new Error('services "db" is forbidden');
    });
    await expect(refused).rejects.toMatchObject({
      reason: "render",
      message: expect.stringContaining('error calling lookup: services "db" is forbidden'),
    });
  });

  test("may do so only a limited number of times", async () => {
    const many = `${configMap}data: {n: "{{ range until ${maxLookups + 1} }}{{ lookup "v1" "Pod" "x" (toString .) }}{{ end }}"}\n`;
    await expect(rendered({ "templates/cm.yaml": many })).rejects.toThrow(`more than ${maxLookups} lookups`);
  });
});

describe("the results of all lookups of a rendering", () => {
  const all = (count: number) => ({
    "templates/cm.yaml": `${configMap}data: {n: "{{ range until ${count} }}{{ (lookup "v1" "Pod" "x" (toString .)).kind }}{{ end }}"}\n`,
  });
  const some: Lookup = async () => ({ kind: "A", text: "x".repeat(maxLookupBytes / 4) });

  test("are accepted up to their limit of bytes", async () => {
    expect((await rendered(all(3), {}, some)).observed.objects[0]?.manifest["data"]).toEqual({ n: "AAA" });
  });

  test("are refused above this limit", async () => {
    await expect(rendered(all(4), {}, some)).rejects.toMatchObject({
      reason: "render",
      message: expect.stringContaining(`more than ${maxLookupBytes} bytes of lookups in one rendering`),
    });
  });
});

describe("a rendering that fails gives one error", () => {
  test("about the chart, if the archive is invalid", async () => {
    const input = { ...(await inputOf({})), chart: Buffer.from("") };
    await expect(helm.prepare(input, limits, forever)).rejects.toMatchObject({ reason: "chart", message: "EOF" });
  });

  test("about the values, with the place of the reference", async () => {
    const from = [{ text: "a: b" }, { text: "a: [" }];
    const input = await inputOf({}, { from });
    await expect(helm.prepare(input, limits, forever)).rejects.toMatchObject({ reason: "values", reference: 1 });
  });

  test("about a schema, with Helm's text", async () => {
    const schema = JSON.stringify({ type: "object", properties: { replicas: { type: "integer" } } });
    const refused = rendered(
      { "values.schema.json": schema, "templates/cm.yaml": configMap },
      { inline: { replicas: "x" } },
    );
    await expect(refused).rejects.toMatchObject({
      reason: "render",
      message: expect.stringContaining(
        "values don't meet the specifications of the schema(s) in the following chart(s):\napp:\n",
      ),
    });
  });

  test("about a remote schema: nothing is fetched and no file is read", async () => {
    for (const $ref of ["https://example.com/schema.json", "file:///etc/passwd"]) {
      const refused = rendered({ "values.schema.json": JSON.stringify({ $ref }), "templates/cm.yaml": configMap });
      await expect(refused).rejects.toMatchObject({
        reason: "render",
        message:
          "values don't meet the specifications of the schema(s) in the following chart(s):\napp:\n" +
          `failing loading "${$ref}": a schema of another file or server is not read: copy it into values.schema.json, or set disableSchemaValidation`,
      });
    }
  });

  test("about the output, if it has more long numbers than allowed", async () => {
    const many = `${configMap}spec: [{{ range until ${maxLongIntegers + 1} }}9007199254740993,{{ end }}]\n`;
    await expect(rendered({ "templates/cm.yaml": many })).rejects.toMatchObject({
      reason: "output",
      message: `the release cannot be read: it has more than ${maxLongIntegers} long numbers`,
    });
  });

  test("about memory, and the next rendering works", async () => {
    const endless = `${configMap}data: {n: "{{ range until 100000 }}{{ repeat 100000 "x" }}{{ end }}"}\n`;
    await expect(rendered({ "templates/cm.yaml": endless })).rejects.toMatchObject({ reason: "memory" });
    expect((await rendered({ "templates/cm.yaml": configMap })).observed.objects).toHaveLength(1);
  });

  test("about time or memory, if the YAML that it renders has aliases that expand without bounds", async () => {
    const levels = Array.from({ length: 9 }, (_, at) => {
      const below = at === 0 ? "x" : `*l${at - 1}`;
      return `l${at}: &l${at} [${Array(10).fill(below).join(", ")}]`;
    });
    const render = async (template: string) =>
      helm.render(await inputOf({ "templates/cm.yaml": template }), nothing, { ...limits, maxCpuMs: 5_000 }, forever);
    expect((await render(`${configMap}${levels.slice(0, 2).join("\n")}\n`)).observed.objects).toHaveLength(1);
    const refused = render(`${configMap}${levels.join("\n")}\n`);
    await expect(refused).rejects.toMatchObject({ reason: expect.stringMatching(/^(?:time|memory)$/) });
  });

  test("about templates that nest too deep, if a tpl leads to itself", async () => {
    const endless = `${configMap}data: {n: "{{ tpl .Values.t . }}"}\n`;
    // Each level takes much of the stack, so that few levels end it.
    const t = `${"{{ if true }}".repeat(100)}{{ tpl .Values.t . }}${"{{ end }}".repeat(100)}`;
    const refused = rendered({ "templates/cm.yaml": endless }, { inline: { t } });
    await expect(refused).rejects.toMatchObject({
      message: "its templates nest too deep: look for a tpl or include that leads to itself, and end it by a condition",
    });
  });

  test("about time, if a template does not end", async () => {
    const endless = `${configMap}data: {n: "{{ range until 100000000 }}{{ if eq . 1 }}{{ end }}{{ end }}"}\n`;
    const input = await inputOf({ "templates/cm.yaml": endless });
    const refused = helm.render(input, nothing, { ...limits, maxCpuMs: 1_000 }, forever);
    await expect(refused).rejects.toMatchObject({ reason: expect.stringMatching(/time|memory/) });
  });
});
