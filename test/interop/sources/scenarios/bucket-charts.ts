import type { Scenario } from "../scenario.ts";
import { chartFolders } from "./chart-folders.ts";
import { keys, put } from "./the-bucket.ts";
import { bucket, helmChart } from "./written.ts";

const from = "Bucket/charts";
const taken = Object.entries(chartFolders()).filter(([path]) => /^(?:charts\/app|env)\//.test(path));
const revision = { reconcileStrategy: "Revision" };

export const bucketCharts: readonly Scenario[] = [
  {
    name: "charts of a bucket",
    isStory: true,
    steps: [
      {
        what: "the bucket",
        change: put(Object.fromEntries(taken)),
        apply: ({ s3 }, place) => [
          keys,
          bucket("charts", { bucketName: place, endpoint: s3, insecure: true, secretRef: { name: "keys" } }),
        ],
      },
      { what: "its chart", apply: () => [helmChart("app", "charts/app", from)] },
      { what: "Revision", apply: () => [helmChart("app", "charts/app", from, revision)] },
      {
        what: "with values files",
        apply: () => [helmChart("app", "charts/app", from, { ...revision, valuesFiles: ["env/prod.yaml"] })],
      },
      {
        what: "an object changes",
        change: ({ buckets }, place) => void buckets.get(place)?.set("other", Buffer.from("x")),
      },
    ],
  },
];
