import { describe, expect, test } from "vitest";
import { maxQueryBytes } from "../../../../lib/canary/metric-servers.ts";
import type { QueryModel } from "../../../../lib/canary/metrics/query-model.ts";
import { renderQuery } from "../../../../lib/canary/metrics/query-template.ts";

const model: QueryModel = {
  ...{ name: "podinfo", namespace: "apps", target: "web", service: "front", ingress: "in", route: "edge" },
  ...{ interval: "30s", variables: { team: "web", long_name: "x", b: "2" } },
};

const render = (template: string): Promise<string> =>
  renderQuery(template, model, async (text) => `rendered ${text}`).catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  );

// Each was rendered by Go's text/template with Flagger's functions.
describe("a query", () => {
  test.each([
    ["{{name}} {{ namespace }}\t{{ target }}", "podinfo apps\tweb"],
    ["{{ service }} {{ ingress }} {{ route }}[{{ interval }}]", "front in edge[30s]"],
    ["{{ variables.team }}{{ variables.long_name }}", "webx"],
    ["{{\nname\n}}", "podinfo"],
    ["x\n  {{- name -}}  \n y", "xpodinfoy"],
    ["{{- name }} y {{ name -}} ", "podinfo y podinfo"],
    ["{{/* a }} b */}}x", "x"],
    ["a {{- /* c */ -}} x", "ax"],
    ["a }} b {c}", "a }} b {c}"],
    ["{{ variables }}", "map[b:2 long_name:x team:web]"],
    ["", ""],
  ])("%j is rendered as %j", async (template, text) => {
    expect(await render(template)).toBe(text);
  });

  test.each([
    ["a {{ variables.key }} b", '1:5: executing "tmpl" at <variables>: map has no entry for key "key"'],
    ["é {{ variables.key }}", '1:6: executing "tmpl" at <variables>: map has no entry for key "key"'],
    ["{{name}}\n{{ variables.x1 }}", '2:3: executing "tmpl" at <variables>: map has no entry for key "x1"'],
    ["{{ variables.__proto__ }}", '1:3: executing "tmpl" at <variables>: map has no entry for key "__proto__"'],
    ["{{ name.foo }}", '1:3: executing "tmpl" at <name>: can\'t evaluate field foo in type string'],
    ["{{ variables.team.x }}", '1:3: executing "tmpl" at <variables>: can\'t evaluate field x in type string'],
    ["{{ .Foo }}", '1:3: executing "tmpl" at <.Foo>: nil data; no entry for key "Foo"'],
  ])("%j fails to render", async (template, why) => {
    expect(await render(template)).toBe(`template excution failed: template: tmpl:${why}`);
  });

  test.each([
    ["x {{ nope }}", '1: function "nope" not defined'],
    ["x\n{{", "2: unclosed action"],
    ["{{name", "1: unclosed action"],
    ["{{ }}", "1: missing value for command"],
    // Before anything is rendered.
    ["{{ variables.key }}{{ nope }}", '1: function "nope" not defined'],
  ])("%j cannot be parsed", async (template, why) => {
    expect(await render(template)).toBe(`template parsing failed: template: tmpl:${why}`);
  });

  test.each([
    "{{ if name }}a{{ end }}",
    "{{ variables.a-b }}",
    '{{ printf "%s" name }}',
    "{{ name | len }}",
    "{{-name}}",
  ])("%j, which needs Go's own engine, is passed to it", async (template) => {
    expect(await render(template)).toBe(`rendered ${template}`);
  });

  test("is refused above the length limit", async () => {
    const nothing = async () => "";
    const long = { ...model, variables: { team: "x".repeat(maxQueryBytes / 2) } };
    await expect(renderQuery("{{ variables.team }}{{ variables.team }}", long, nothing)).resolves.toHaveLength(
      maxQueryBytes,
    );
    await expect(renderQuery("{{ variables.team }}{{ variables.team }}x", long, nothing)).rejects.toThrow(
      `the query is longer than ${maxQueryBytes} bytes`,
    );
  });
});
