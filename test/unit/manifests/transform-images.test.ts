import { expect, test } from "vitest";
import { transformImages } from "../../../lib/manifests/transform-images.ts";

const sha = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** Each image as a manifest has it, and what kustomize 5.8.1 makes of it. */
const cases = [
  {
    image: { name: "web", newTag: "2" },
    changed: { web: "web:2", "web:1": "web:2", [`web@${sha("a")}`]: "web:2", [`web:1@${sha("a")}`]: "web:2" },
    kept: ["web-old:1", "webs", "my/web:1", "web/app:1", "reg.test/web:1", "reg.test:5000/web"],
  },
  {
    image: { name: "reg.test:5000/web", newTag: "2" },
    changed: { "reg.test:5000/web": "reg.test:5000/web:2", "reg.test:5000/web:1": "reg.test:5000/web:2" },
    kept: ["reg.test/web:1", "web:1", "reg.test:5000/web-old:1", "reg.test:5000", "reg.test:50001/web"],
  },
  {
    image: { name: "web", digest: sha("b") },
    changed: { web: `web@${sha("b")}`, "web:1": `web@${sha("b")}`, [`web:1@${sha("a")}`]: `web@${sha("b")}` },
    kept: ["web-old:1"],
  },
  {
    image: { name: "web", newTag: "2", digest: sha("b") },
    changed: { "web:1": `web:2@${sha("b")}` },
    kept: ["web-old:1"],
  },
  {
    image: { name: "web", newName: "reg.test:5000/a/web-new" },
    changed: {
      web: "reg.test:5000/a/web-new",
      "web:1": "reg.test:5000/a/web-new:1",
      [`web@${sha("a")}`]: `reg.test:5000/a/web-new@${sha("a")}`,
      [`web:1@${sha("a")}`]: `reg.test:5000/a/web-new:1@${sha("a")}`,
    },
    kept: ["web-old:1"],
  },
  { image: { name: "web", newName: "", newTag: "", digest: "" }, changed: { "web:1": "web:1" }, kept: ["web-old:1"] },
];

test.each(cases)("$image changes only that image, wherever containers are", ({ image, changed, kept }) => {
  const wanted: Readonly<Record<string, string>> = {
    ...Object.fromEntries(kept.map((one) => [one, one])),
    ...Object.fromEntries(Object.entries(changed)),
  };
  for (const [before, after] of Object.entries(wanted)) {
    const pod = (text: string) => ({
      containers: [{ name: "a" }, { name: "b", image: text }],
      initContainers: [{ image: text }],
      // kustomize does not look there.
      ephemeralContainers: [{ image: before }],
      image: before,
    });
    const object = (text: string) => ({
      kind: "CronJob",
      spec: { jobTemplate: { spec: { template: { spec: pod(text) } } }, containers: [] },
    });
    expect(transformImages(object(before), [image])).toEqual(object(after));
    const definition = { ...object(before), kind: "CustomResourceDefinition" };
    expect(transformImages(definition, [image])).toEqual(definition);
  }
});
