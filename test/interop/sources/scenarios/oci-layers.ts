import { gunzipSync } from "node:zlib";
import { chartArchive } from "../charts.ts";
import { fluxLayer, push } from "../images.ts";
import { type Scenario, specs } from "../scenario.ts";
import { at } from "./the-image.ts";

export const ociLayers: readonly Scenario[] = [
  {
    name: "the layers of an artifact",
    steps: [
      {
        what: "a chart",
        change: async ({ registry }, place) => {
          const chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
          const bytes = await chartArchive("app", "1.0.0");
          await push(registry, place, "chart", {
            layers: [{ mediaType: chart, bytes }],
            config: "application/vnd.cncf.helm.config.v1+json",
          });
          await push(registry, place, "none", { layers: [] });
          await push(registry, place, "text", { layers: [{ mediaType: "text/plain", bytes: Buffer.from("hello\n") }] });
          await push(registry, place, "tar", {
            layers: [{ mediaType: "application/x-tar", bytes: gunzipSync(bytes) }],
          });
          await push(registry, place, "empty", { layers: [{ mediaType: "text/plain", bytes: Buffer.from("") }] });
          await push(registry, place, "two", {
            layers: [await fluxLayer({ one: "1\n" }), { mediaType: chart, bytes }],
          });
          await push(registry, place, "bad", { layers: [await fluxLayer({ "../x": "1\n" })] });
          await push(registry, place, "absolute", { layers: [await fluxLayer({ "/etc/x": "1\n" })] });
          await push(registry, place, "cut", { layers: [{ mediaType: "a/b", bytes: bytes.subarray(0, 100) }] });
          await push(registry, place, "nofiles", { layers: [await fluxLayer({})] });
          await push(registry, place, "ignored", {
            layers: [await fluxLayer({ ".sourceignore": "one\n", one: "1", two: "2", "x.png": "p" })],
          });
        },
        apply: (hosts, place) => [at(hosts, place, { ref: { tag: "chart" } })],
      },
      ...specs(
        {
          copied: {
            ref: { tag: "chart" },
            layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" },
          },
          "copied with ignore": {
            ref: { tag: "chart" },
            ignore: "*",
            layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" },
          },
          "extracted by type": {
            ref: { tag: "two" },
            layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "extract" },
          },
          "another type": { ref: { tag: "chart" }, layerSelector: { mediaType: "a/b" } },
          "an empty selector": { ref: { tag: "two" }, layerSelector: {} },
          "copied without a type": { ref: { tag: "two" }, layerSelector: { operation: "copy" } },
          "no layers": { ref: { tag: "none" } },
          text: { ref: { tag: "text" } },
          "text copied": { ref: { tag: "text" }, layerSelector: { operation: "copy" } },
          tar: { ref: { tag: "tar" } },
          "an empty layer": { ref: { tag: "empty" } },
          "an empty layer copied": { ref: { tag: "empty" }, layerSelector: { operation: "copy" } },
          "a bad name": { ref: { tag: "bad" } },
          "an absolute name": { ref: { tag: "absolute" } },
          "cut off": { ref: { tag: "cut" } },
          "no files": { ref: { tag: "nofiles" } },
          "a .sourceignore": { ref: { tag: "ignored" } },
          "ignore and a .sourceignore": { ref: { tag: "ignored" }, ignore: "two\n" },
          "everything ignored": { ref: { tag: "ignored" }, ignore: "*\n" },
          "ignored no more": { ref: { tag: "ignored" } },
        },
        at,
      ),
    ],
  },
];
