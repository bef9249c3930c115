import { describe, expect, test } from "vitest";
import { buildFiles, configMap, type Files, noEngine } from "./build-files.ts";

const hidden = `apiVersion: v1
kind: Secret
metadata:
  name: s
  annotations:
    config.kubernetes.io/local-config: "true"
stringData:
  password: word
`;
const secret = hidden.replace(/ {2}annotations:\n.*\n/, "");
const reference = `${configMap("a")}---
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  imagePullSecrets:
    - name: pull
  volumes:
    - name: v
      secret:
        secretName: s
`;
const kustomization = (fields: object): string => JSON.stringify({ resources: ["a.yaml"], ...fields });
const copied = {
  source: { kind: "Secret", fieldPath: "stringData.password" },
  targets: [{ select: { kind: "ConfigMap" }, fieldPaths: ["data.a"] }],
};

describe("the check whether a build carries data of a Secret", () => {
  test.each<{ name: string; files: Files; carries: boolean }>([
    { name: "a folder without one", files: { "a.yaml": reference }, carries: false },
    {
      name: "a kustomization without one",
      files: { "a.yaml": reference, "kustomization.yaml": kustomization({}) },
      carries: false,
    },
    {
      name: "one in another place of the artifact",
      files: { "a.yaml": reference, "kustomization.yaml": kustomization({}), "other/s.yaml": secret },
      carries: false,
    },
    { name: "one in a folder", files: { "s.yaml": secret }, carries: true },
    {
      name: "one of a generator",
      files: {
        "a.yaml": reference,
        "kustomization.yaml": kustomization({ secretGenerator: [{ name: "g", literals: ["a=b"] }] }),
      },
      carries: true,
    },
    {
      name: "one that only a replacement reads",
      files: {
        "a.yaml": configMap("a"),
        "s.yaml": hidden,
        "kustomization.yaml": kustomization({ resources: ["a.yaml", "s.yaml"], replacements: [copied] }),
      },
      carries: true,
    },
  ])("$name: $carries", async ({ files, carries }) => {
    const engine = files["kustomization.yaml"] === undefined ? noEngine : undefined;
    expect((await buildFiles(files, {}, engine)).carriesSecret).toBe(carries);
  });

  test("the replacement in the case above copies the value", async () => {
    const files = {
      "a.yaml": configMap("a"),
      "s.yaml": hidden,
      "kustomization.yaml": kustomization({ resources: ["a.yaml", "s.yaml"], replacements: [copied] }),
    };
    const { manifests } = await buildFiles(files);
    expect(manifests).toMatchObject([{ kind: "ConfigMap", data: { a: "word" } }]);
  });
});
