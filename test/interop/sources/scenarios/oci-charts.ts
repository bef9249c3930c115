import { type Scenario, specs } from "../scenario.ts";
import { chartOf, charts } from "./the-chart.ts";
import { pushCharts } from "./oci-chart-images.ts";
import { helmChart, helmRepository, secretSteps } from "./written.ts";

/** Of no point on its curve. */
const otherKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqy6fOOPbYDtwPOWsL0hEYFdP2SLb
GO2cXQzNQjyfYI0XQZ1k1DBy7xo8e2Ov1mHR1pXf2bF3g5yVb5r1hSxEJw==
-----END PUBLIC KEY-----
`;

const verifiedBy = (provider: string, name: string) => ({
  version: "1.0.0",
  verify: { provider, secretRef: { name } },
});

export const ociCharts: readonly Scenario[] = [
  {
    name: "charts of an oci repository",
    steps: [
      {
        what: "the repository and a chart",
        change: pushCharts,
        apply: ({ registry }, place) => [
          helmRepository("charts", { url: `oci://${registry}/${place}`, type: "oci", insecure: true }),
          helmChart("app", "app", charts),
        ],
      },
      ...specs(
        {
          "1.x": { version: "1.x" },
          exact: { version: "1.0.0" },
          "exact with a v": { version: "v3.0.0" },
          "exact without its v": { version: "3.0.0" },
          "build metadata": { version: "2.0.0+b" },
          "a pre-release": { version: "2.0.0-rc.1" },
          "pre-releases": { version: ">=2.0.0-0" },
          "no match": { version: ">=9" },
          "missing exact": { version: "9.9.9" },
          "no range": { version: "latest" },
          "bad range": { version: ">=1 <<2" },
          "missing chart": { chart: "none" },
          "missing chart, exact": { chart: "none", version: "1.0.0" },
          "chart with a slash": { chart: "charts/app" },
          "upper case": { chart: "App" },
          "values files": { version: "1.0.0", valuesFiles: ["values.yaml", "a.yaml"], ignoreMissingValuesFiles: true },
          "verify with a missing Secret": {
            version: "1.0.0",
            verify: { provider: "cosign", secretRef: { name: "none" } },
          },
          "verify by notation without a Secret": { version: "1.0.0", verify: { provider: "notation" } },
          "verify keyless": { version: "1.0.0", verify: { provider: "cosign" } },
        },
        chartOf(charts),
      ),
      ...secretSteps(
        {
          "verify with a Secret without keys": { a: "b" },
          "verify with a key that is none": { "a.pub": "b" },
          "verify with a key of nobody": { "a.pub": otherKey },
        },
        (_, __, name) => helmChart("app", "app", charts, verifiedBy("cosign", name)),
      ),
      ...secretSteps({ "verify by notation with a Secret without a policy": { a: "b" } }, (_, __, name) =>
        helmChart("app", "app", charts, verifiedBy("notation", name)),
      ),
    ],
  },
];
