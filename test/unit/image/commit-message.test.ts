import { afterAll, describe, expect, test } from "vitest";
import type { MessageEngine } from "../../../lib/core/ports/message-engine.ts";
import { helmModule, wasmHelm } from "../../../lib/engine/wasm-helm.ts";
import {
  commitMessage,
  type MessageOf,
  maxMessageBytes,
  maxTemplateBytes,
  messageLimits,
  templateText,
} from "../../../lib/image/commit-message.ts";
import type { ImageChange } from "../../../lib/image/image-change.ts";

const forever = new AbortController().signal;
const engine = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
afterAll(() => engine.close());

const change = (name: string, oldTag: string, newTag: string): ImageChange => ({
  oldValue: `registry.test/${name}:${oldTag}`,
  newValue: `registry.test/${name}:${newTag}`,
  setter: `apps:${name}`,
});
const pod = (name: string) => ({ apiVersion: "v1", kind: "Pod", namespace: "apps", name });
const noObject = { apiVersion: "", kind: "", namespace: "", name: "" };

const of: MessageOf = {
  cluster: "home",
  automation: { namespace: "apps", name: "images" },
  values: { cluster: "live", who: "Flux <flux@example.test>" },
  changes: [
    {
      path: "web.yaml",
      objects: [
        { object: pod("web"), changes: [change("web", "1.0.0", "1.1.0")] },
        { object: pod("api"), changes: [change("api", "2.0.0", "2.1.0"), change("web", "1.0.0", "1.1.0")] },
      ],
    },
    {
      path: "values.yaml",
      objects: [{ object: noObject, changes: [{ oldValue: "1.0.0", newValue: "1.1.0", setter: "apps:web:tag" }] }],
    },
  ],
};

const message = (template?: string, more: Partial<MessageOf> = {}) =>
  commitMessage(template, { ...of, ...more }, engine, forever);

describe("a commit message is the same as Flux's", () => {
  // The messages of the recording image-automation-message.
  test.each([
    ["if there is no template", undefined, "Update from image update automation"],
    ["for an empty template", "", "Update from image update automation"],
    ["for one line", "Update images", "Update images"],
    [
      "for values",
      "Update {{ .Values.cluster }}{{ with .Values.missing }} {{ . }}{{ end }}\n\nSigned-off-by: {{ .Values.who }}\n",
      "Update live\n\nSigned-off-by: Flux <flux@example.test>\n",
    ],
    ["for a template with empty output", "{{/* nothing */}}", ""],
    [
      "for white space and hashes, which are kept",
      "\n\n  Update images  \n# a line with a hash\n\n\n",
      "\n\n  Update images  \n# a line with a hash\n\n\n",
    ],
  ])("image-automation/51: %s", async (_case, template, expected) => {
    expect(await message(template)).toBe(expected);
  });

  test("image-automation/51: lists each change once", async () => {
    const template =
      "Update {{ .AutomationObject }}\n\n{{ range .Changed.Changes }}- {{ .OldValue }} -> {{ .NewValue }}\n{{ end }}";
    expect(await message(template)).toBe(
      "Update apps/images\n\n- 1.0.0 -> 1.1.0\n- registry.test/api:2.0.0 -> registry.test/api:2.1.0\n- registry.test/web:1.0.0 -> registry.test/web:1.1.0\n",
    );
  });

  test("image-automation/51: lists files and objects, with functions of sprig", async () => {
    const template = `{{- range $file, $objects := .Changed.FileChanges }}
{{ $file }}
{{- range $object, $changes := $objects }}
  {{ default "no object" $object.Kind | lower }}{{ with $object.Name }}/{{ . }}{{ end }}: {{ len $changes }}
{{- end }}{{ end }}
{{ range $object, $_ := .Changed.Objects }}{{ printf "%s %s" $object.APIVersion $object.Namespace | trim }};{{ end }}
{{ range .Changed.Changes }}{{ .Setter | splitList ":" | last | upper }} {{ regexReplaceAll "[0-9]" .OldValue "N" }};{{ end }}`;
    expect(await message(template)).toBe(`
values.yaml
  no object: 1
web.yaml
  pod/api: 2
  pod/web: 1
;v1 apps;v1 apps;
TAG N.N.N;API registry.test/api:N.N.N;WEB registry.test/web:N.N.N;`);
  });

  test("image-automation/63: has the values of the spec in .Values", async () => {
    expect(await message("{{ range $k, $v := .Values }}{{ $k }}={{ $v }};{{ end }}")).toBe(
      "cluster=live;who=Flux <flux@example.test>;",
    );
  });

  test("a plain text starts no engine", async () => {
    const broken: MessageEngine = { message: () => Promise.reject(new Error("it was started")) };
    expect(await commitMessage("Update {images} }}", of, broken, forever)).toBe("Update {images} }}");
  });
});

describe("a template without a valid message fails with Flux's text", () => {
  test.each([
    [".Updated", "{{ range .Updated.Images }}{{ end }}", "'.Changed'"],
    [
      ".Changed.ImageResult",
      "{{ range .Changed.ImageResult.Images }}{{ end }}",
      "'.Changed.FileChanges' or '.Changed.Objects'",
    ],
  ])("image-automation/62: if it reads %s, until the template changes", async (field, template, instead) => {
    await expect(message(template)).rejects.toMatchObject({
      name: "Failure",
      reason: "RemovedTemplateField",
      retry: "never",
      message: `template uses removed '${field}' field. Please use ${instead} instead. See: https://fluxcd.io/flux/components/image/imageupdateautomations/#message-template`,
    });
  });

  test.each([
    [
      "is not closed",
      "a\n{{ if .Values }}",
      "failed to update source: unable to create commit message template from spec: template: commit message:2: unexpected EOF",
    ],
    [
      "reads a clock",
      "{{ now }}",
      'failed to update source: unable to create commit message template from spec: template: commit message:1: function "now" not defined',
    ],
    [
      "reads a missing field",
      "{{ .Changed.Images }}",
      'failed to update source: failed to run template from spec: template: commit message:1:11: executing "commit message" at <.Changed.Images>: can\'t evaluate field Images in type update.Result',
    ],
    [
      "fails itself",
      '{{ fail "no images" }}',
      'failed to update source: failed to run template from spec: template: commit message:1:3: executing "commit message" at <fail "no images">: error calling fail: no images',
    ],
  ])("that %s, and the run retries", async (_case, template, text) => {
    await expect(message(template)).rejects.toMatchObject({
      name: "Failure",
      reason: "GitOperationFailed",
      retry: "backoff",
      message: text,
    });
  });
});

describe("a template cannot print a secret", () => {
  test("it sees the name of the automation, the values of the spec and the changes, and nothing else", async () => {
    expect(await message('{{ printf "%+v" . }}', { changes: of.changes.slice(1) })).toBe(
      "{AutomationObject:apps/images Changed:{FileChanges:map[values.yaml:map[{ResourceIdentifier:{TypeMeta:{APIVersion: Kind:} NameMeta:{Name: Namespace:}}}:[{OldValue:1.0.0 NewValue:1.1.0 Setter:apps:web:tag}]]]} Values:map[cluster:live who:Flux <flux@example.test>]}",
    );
  });

  test.each(["env", "expandenv", "getHostByName", "lookup", "include", "tpl"])(
    "it has no function %s",
    async (name) => {
      await expect(message(`{{ ${name} "HOME" }}`)).rejects.toMatchObject({
        message: expect.stringMatching(`function "${name}" not defined$`),
      });
    },
  );

  test("the old value of a marker in a Secret is hidden in messages, and other old values are not", async () => {
    const changes = [change("web", "1.0.0", "1.1.0")];
    const secret = { apiVersion: "v1", kind: "Secret", namespace: "apps", name: "login" };
    const password = { oldValue: "hunter2", newValue: "1.1.0", setter: "apps:web:tag" };
    const objects = [
      { object: pod("web"), changes },
      { object: secret, changes: [password] },
    ];
    const template = "{{ range .Changed.Changes }}{{ .OldValue }} -> {{ .NewValue }};{{ end }}";
    expect(await message(template, { changes: [{ path: "all.yaml", objects }] })).toBe(
      "registry.test/web:1.0.0 -> registry.test/web:1.1.0;***** -> 1.1.0;",
    );
  });
});

describe("a commit message template has limits", () => {
  const write = (template: string) => templateText(template, of, engine, forever);

  test("on the bytes that it writes", async () => {
    const text = await write(`{{ repeat ${maxMessageBytes / 2} "é" }}`);
    expect(Buffer.byteLength(text)).toBe(maxMessageBytes);
    await expect(write(`.{{ repeat ${maxMessageBytes / 2} "é" }}`)).rejects.toMatchObject({
      reason: "template",
      message: `failed to run template from spec: the text is longer than ${maxMessageBytes} bytes`,
    });
  });

  test("on its own bytes", async () => {
    const plain = "x".repeat(maxTemplateBytes);
    expect(await write(plain)).toBe(plain);
    await expect(write(`${plain}x`)).rejects.toMatchObject({
      reason: "template",
      message: `unable to create commit message template from spec: it has ${maxTemplateBytes + 1} bytes, and at most ${maxTemplateBytes} are read`,
    });
  });

  test("on memory, and the next one works", async () => {
    await expect(write('{{ len (repeat 1000000000 "x") }}')).rejects.toMatchObject({ reason: "memory" });
    expect(await write("{{ .Values.cluster }}")).toBe("live");
  });

  test("on depth, if one calls itself", async () => {
    const endless = '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}';
    await expect(write(endless)).rejects.toMatchObject({ reason: expect.stringMatching(/template|broken/) });
    expect(await write("{{ .Values.cluster }}")).toBe("live");
  });

  test("on processor time", async () => {
    const endless = "{{ range until 100000000 }}{{ if eq . 1 }}{{ end }}{{ end }}";
    const limits = { ...messageLimits, maxCpuMs: 1_000 };
    const input = { tenant: { cluster: "", namespace: "" }, ...of, template: endless, files: [], maxBytes: 10 };
    await expect(engine.message(input, limits, forever)).rejects.toMatchObject({
      name: "MessageEngineError",
      reason: expect.stringMatching(/time|memory/),
    });
  });
});
