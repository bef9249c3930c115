import { afterAll, describe, expect, test } from "vitest";
import type { TemplateEngine } from "../../../../lib/canary/metric-servers.ts";
import { maxQueryTemplateBytes, renderByGo } from "../../../../lib/canary/metrics/go-template.ts";
import type { QueryModel } from "../../../../lib/canary/metrics/query-model.ts";
import { helmModule, wasmHelm } from "../../../../lib/engine/wasm-helm.ts";

const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
afterAll(() => helm.close());

const model: QueryModel = {
  ...{ name: "podinfo", namespace: "apps", target: "web", service: "front", ingress: "in", route: "edge" },
  ...{ interval: "30s", variables: { team: "web", name: "other" } },
};
const { signal } = new AbortController();
const engine: TemplateEngine = ({ namespace, name, template, values }, stop) =>
  helm.message(
    {
      tenant: { cluster: "c", namespace },
      automation: { namespace, name },
      template,
      values,
      files: [],
      maxBytes: 1_000,
    },
    { maxCpuMs: 20_000, maxWallMs: 60_000, maxOutputBytes: 8_000 },
    stop,
  );
const render = (template: string): Promise<string> =>
  renderByGo(template, model, engine, signal).catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  );

describe("a query that uses more than names and variables", () => {
  test.each([
    ['{{ if eq target "web" }}a{{ else }}b{{ end }} {{ name }}', "a podinfo"],
    ['{{- $route := printf "kube_%s__%s" namespace ingress }}x{route=~"{{ $route }}"}', 'x{route=~"kube_apps__in"}'],
    ['{{ variables.team | printf "%q" }} {{ variables.name }}', '"web" other'],
    ['{{ "name target" }} {{ `route "}}" ` }} {{/* name }} */}}{{ len name }}', 'name target route "}}"  7'],
    ["{{ with variables.team }}{{ . }}{{ end }} name }}", "web name }}"],
    ['{{ define "t" }}x{{ end }}{{ template "t" }}', "x"],
  ])("is rendered by Go's engine: %s", async (template, text) => {
    expect(await render(template)).toBe(text);
  });

  test.each([
    ["{{ if target }}", /^template parsing failed: template: tmpl:1: unexpected EOF$/],
    [
      "{{ if variables.gone }}{{ end }}",
      /^template excution failed: template: tmpl: executing "tmpl" at <variables>: map has no entry for key "gone"$/,
    ],
    // Functions of Flux, and the data that its messages see.
    ["{{ upper name }}{{ len name }}", /^template parsing failed: template: tmpl: function "upper" not defined$/],
    [
      "{{ if .AutomationObject }}{{ end }}",
      /^template excution failed: template: tmpl: nil data; no entry for key "AutomationObject"$/,
    ],
    ['{{ printf "%v" $ }}', /^template parsing failed: \$ can be used here only with a key/],
    ["{{ range variables }}{{ end }}", /^template parsing failed: variables can be used here only with a key/],
    ['{{ index name "a" }}', /^template excution failed: template: tmpl:1:3: executing "tmpl" at </],
  ])("that cannot be rendered fails with the reason: %s", async (template, text) => {
    expect(await render(template)).toMatch(text);
  });

  test("with an unclosed quote cannot be parsed", async () => {
    expect(await render(`{{ len "a }} ${'"b" '.repeat(200)}{{ $ }}`)).toMatch(
      /^template (?:parsing|excution) failed: /,
    );
    expect(await render('{{ len "a }}')).toMatch(
      /^template parsing failed: template: tmpl:1: unterminated quoted string$/,
    );
  });

  test("is refused if there is no engine, and if it is too long", async () => {
    await expect(renderByGo("{{ len name }}", model, undefined, signal)).rejects.toThrow(
      "only names such as {{ target }}",
    );
    const long = `{{ len name }}${"x".repeat(maxQueryTemplateBytes)}`;
    expect(await render(long)).toContain(`more than ${maxQueryTemplateBytes} bytes`);
  });
});
