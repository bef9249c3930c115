import { describe, expect, test } from "vitest";
import { gzip } from "../../../../lib/sources/archive/pack-tar.ts";
import { buildRemote } from "../../../../lib/sources/helm/build-remote.ts";
import { type Member, tarOf } from "../tar-of.ts";
import { appChart, type Files, packed, unpacked } from "./charts.ts";

const withFiles: Files = {
  ...appChart,
  "values-prod.yaml": "color: red\nlist: [1, 2]\n",
  "values-eu.yaml": "list: [3]\nregion: eu\n",
};
const plain = { valuesFiles: [], ignoreMissing: false, metadata: "" };

describe("a chart from a repository", () => {
  test.for([[[]], [["values.yaml"]], [["./values.yaml"]], [["values.yaml/"]], [["./values.yaml/"]]])(
    "11.4/98: with the values files %j is pulled unmodified",
    async ([valuesFiles], { signal }) => {
      const archive = await packed(withFiles);
      const built = await buildRemote(archive, "1.0.0", { ...plain, valuesFiles: valuesFiles ?? [] }, signal);
      expect(built).toEqual({ bytes: archive, isPackaged: false, valuesFiles: [], dependencies: 0 });
    },
  );

  test.for([
    [["values.yaml", "values-prod.yaml"], "color: red\nlist:\n- 1\n- 2\nreplicas: 1\n"],
    [["values.yaml", "values-prod.yaml", "values-eu.yaml"], "color: red\nlist:\n- 3\nregion: eu\nreplicas: 1\n"],
  ] as const)("values files are merged from left to right: %j", async ([valuesFiles, values], { signal }) => {
    const built = await buildRemote(await packed(withFiles), "1.0.0+2", { ...plain, valuesFiles }, signal);
    expect(built).toMatchObject({ isPackaged: true, valuesFiles });
    const files = await unpacked(built.bytes, signal);
    expect(files).toEqual({
      ...withFiles,
      "Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0+2\n",
      "values.yaml": values,
    });
  });

  test.for([["values-prod.yaml/"], ["./values-prod.yaml/"]])(
    "the values file %s is found, since a slash behind its name counts for nothing",
    async ([path = ""], { signal }) => {
      const shape = { ...plain, valuesFiles: ["./values.yaml/", path] };
      const built = await buildRemote(await packed(withFiles), "1.0.0+3", shape, signal);
      const files = await unpacked(built.bytes, signal);
      expect(files["values.yaml"]).toBe("color: red\nlist:\n- 1\n- 2\nreplicas: 1\n");
    },
  );

  test("the values of values.yaml are dropped unless it is listed", async ({ signal }) => {
    const shape = { ...plain, valuesFiles: ["values-prod.yaml", "missing.yaml"], ignoreMissing: true };
    const built = await buildRemote(await packed(withFiles), "1.0.0+4", shape, signal);
    expect(built.valuesFiles).toEqual(["values-prod.yaml"]);
    expect((await unpacked(built.bytes, signal))["values.yaml"]).toBe("color: red\nlist:\n- 1\n- 2\n");
  });

  test.for([["../values-prod.yaml"], ["/values-prod.yaml"]])(
    "11.4/101: the values file %s is missing, since it leads out of the chart",
    async ([path = ""], { signal }) => {
      const built = buildRemote(await packed(withFiles), "1.0.0+3", { ...plain, valuesFiles: [path] }, signal);
      await expect(built).rejects.toThrow(`failed to merge chart values: no values file found at path '${path}'`);
    },
  );

  test("11.4/101: a missing values file stops the build", async ({ signal }) => {
    const shape = { ...plain, valuesFiles: ["values-prod.yaml", "missing.yaml"] };
    const message =
      "values files merge error: failed to merge chart values: no values file found at path 'missing.yaml'";
    const built = buildRemote(await packed(withFiles), "1.0.0+3", shape, signal);
    await expect(built).rejects.toMatchObject({ reason: "ValuesFilesError", retry: "never", message });
  });

  test.for<readonly [string, readonly Member[], string]>([
    ["no chart", [{ name: "app/values.yaml" }], "no 'Chart.yaml' found"],
    ["a file above its folder", [{ name: "app/../../x" }], "chart illegally references parent directory"],
    ["a file outside of a folder", [{ name: "x" }], 'chart illegally contains content outside the base directory: "x"'],
    ["an absolute path", [{ name: "//x" }], "chart illegally contains absolute paths"],
    [
      "a link",
      [{ name: "app/a", type: "2", link: "/etc/passwd" }],
      'the chart has a link or a device at "app/a": put a file in its place',
    ],
    [
      "a file that is too large",
      [{ name: "app/a", size: 5 * 1024 * 1024 + 1 }],
      'decompressed chart file "app/a" is larger than the maximum file size 5242880',
    ],
    ["nothing", [], "no files in chart archive"],
  ])("an archive with %s is refused", async ([, members, why], { signal }) => {
    const archive = await gzip([tarOf(members)]);
    const message = `chart pull error: failed to load chart metadata from written chart: ${why}`;
    await expect(buildRemote(archive, "1.0.0", plain, signal)).rejects.toMatchObject({
      reason: "ChartPullError",
      message,
    });
  });

  test("an archive that unpacks to more than 100 MiB is refused", async ({ signal }) => {
    const content = "0".repeat(5 * 1024 * 1024);
    const archive = await gzip([tarOf(Array.from({ length: 21 }, (_, index) => ({ name: `app/${index}`, content })))]);
    await expect(buildRemote(archive, "1.0.0", plain, signal)).rejects.toThrow(
      "decompressed chart is larger than the maximum size 104857600",
    );
  });

  test("subcharts are packed below charts/, and share its limits", async ({ signal }) => {
    const archive = await packed({
      ...withFiles,
      "charts/lib-1.0.0.tgz": await packed({ "Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\n" }, "lib"),
      "charts/own/Chart.yaml": "apiVersion: v2\nname: own\nversion: 2.0.0\n",
      "charts/own/templates/a.yaml": "a",
    });
    const built = await buildRemote(archive, "1.0.0+1", { ...plain, valuesFiles: ["values-eu.yaml"] }, signal);
    const names = Object.keys(await unpacked(built.bytes, signal)).filter((name) => name.startsWith("charts/"));
    expect(names).toEqual(["charts/lib/Chart.yaml", "charts/own/Chart.yaml", "charts/own/templates/a.yaml"]);
  });
});
