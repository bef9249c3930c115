import { afterAll, describe, expect, test } from "vitest";
import { helmModule, wasmHelm } from "../../../../lib/engine/wasm-helm.ts";
import type { MessageOf } from "../../../../lib/image/commit-message.ts";
import { maxBodyBytes, maxTitleBytes, requestText } from "../../../../lib/image/pull-request/request-text.ts";

const forever = new AbortController().signal;
const engine = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
afterAll(() => engine.close());

const of: MessageOf = {
  cluster: "home",
  automation: { namespace: "apps", name: "images" },
  values: { cluster: "live" },
  changes: [],
};
const written = (message: string, annotations: Readonly<Record<string, string>> = {}) =>
  requestText(message, annotations, of, engine, forever);
const [title, body] = ["sluice.dev/pull-request-title", "sluice.dev/pull-request-body"];

describe("a pull request has", () => {
  test.each([
    [
      "the first line of the message as title, and the rest as text",
      "\nUpdate web\n\n- a\n- b\n",
      "Update web",
      "- a\n- b",
    ],
    ["a default title if the message is empty", " \n", "Update from image update automation", ""],
  ])("%s", async (_what, message, expectedTitle, expectedBody) => {
    expect(await written(message)).toEqual({ title: expectedTitle, body: expectedBody });
  });

  test("the texts of the templates in the annotations", async () => {
    const annotations = {
      [title]: "{{ .AutomationObject.Name }} on\n{{ .Values.cluster }}",
      [body]: "{{ len .Changed.Changes }} changes\n",
    };
    expect(await written("Update\n\nrest", annotations)).toEqual({ title: "images on live", body: "0 changes" });
    expect(await written("Update\n\nrest", { [body]: "" })).toEqual({ title: "Update", body: "" });
  });

  test("as much text as hosts accept, and no more", async () => {
    const long = await written(`${"t".repeat(maxTitleBytes)}\n${"b".repeat(maxBodyBytes)}`);
    expect([long.title.length, long.body.length]).toEqual([maxTitleBytes, maxBodyBytes]);
    const longer = await written(`${"t".repeat(maxTitleBytes + 1)}\n${"b".repeat(maxBodyBytes + 1)}`);
    expect(longer.title).toBe(`${"t".repeat(maxTitleBytes - 3)}...`);
    expect(longer.body).toBe(`${"b".repeat(maxBodyBytes - 3)}...`);
  });
});

describe("a pull request template without a text is reported by its annotation", () => {
  test.each([
    [
      title,
      "{{ if }}",
      `annotation ${title}: the template cannot be read: template: commit message:1: missing value for if`,
    ],
    [body, "{{ .Nothing }}", `annotation ${body}: the template fails: template: commit message:1:3: executing`],
    [body, "{{ .Updated }}", `annotation ${body}: template uses removed '.Updated' field.`],
  ])("%s: %s", async (annotation, template, text) => {
    await expect(written("Update", { [annotation]: template })).rejects.toThrow(text);
  });
});
