import { fluxLayer, push } from "../images.ts";
import { type Scenario, specs } from "../scenario.ts";
import { at, begin } from "./the-image.ts";

export const ociReferences: readonly Scenario[] = [
  {
    name: "the reference of an artifact",
    steps: [
      { what: "none", change: begin, apply: (hosts, place) => [at(hosts, place)] },
      ...specs(
        {
          "an empty one": { ref: {} },
          "a tag": { ref: { tag: "1.0.0" } },
          "a tag that is missing": { ref: { tag: "none" } },
          "a tag that is none": { ref: { tag: "a b" } },
          "an empty tag": { ref: { tag: "" } },
          "a range": { ref: { semver: "1.x" } },
          any: { ref: { semver: "*" } },
          "a range with pre-releases": { ref: { semver: ">=1.0.0-0" } },
          "a range with a filter": { ref: { semver: ">=1.0.0-0", semverFilter: ".*-rc.*" } },
          "a filter that is none": { ref: { semver: "1.x", semverFilter: "(" } },
          "a filter of nothing": { ref: { semver: "1.x", semverFilter: "^none$" } },
          "a filter of other tags": { ref: { semver: "1.x", semverFilter: "prod-" } },
          "a filter without a range": { ref: { semverFilter: "1.*" } },
          "a range without a match": { ref: { semver: "9.x" } },
          "a range that is none": { ref: { semver: "latest" } },
          "a digest that is missing": { ref: { digest: `sha256:${"0".repeat(64)}` } },
          "a digest that is short": { ref: { digest: "sha256:0123" } },
          "a digest that is none": { ref: { digest: "latest" } },
          "a tag and a range": { ref: { tag: "latest", semver: "1.0.0" } },
          suspended: { suspend: true, ref: { tag: "1.0.0" } },
          resumed: { ref: { tag: "1.0.0" } },
        },
        at,
      ),
    ],
  },
  {
    name: "a tag that moves",
    isStory: true,
    steps: [
      { what: "the first", change: begin, apply: (hosts, place) => [at(hosts, place, { ref: { tag: "1.0.0" } })] },
      {
        what: "the tag is moved",
        change: async ({ registry }, place) =>
          void (await push(registry, place, "1.0.0", { layers: [await fluxLayer({ new: "x\n" })] })),
      },
      {
        what: "only one annotation",
        change: async ({ registry }, place) =>
          void (await push(registry, place, "1.0.0", {
            layers: [await fluxLayer({ new: "y\n" })],
            annotations: { "org.opencontainers.image.source": "https://example.test/repo" },
          })),
      },
      {
        what: "equal content under another digest",
        change: async ({ registry }, place) =>
          void (await push(registry, place, "1.0.0", {
            layers: [await fluxLayer({ new: "y\n" })],
            annotations: { other: "z" },
          })),
      },
      { what: "deleted", remove: ["OCIRepository/app"] },
    ],
  },
];
