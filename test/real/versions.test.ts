import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { here } from "./folders.ts";
import { versions } from "./versions.ts";

const read = (path: string): Promise<string> => readFile(join(here, path), "utf8");

const moduleVersion = (release: string): string => {
  const [major, minor, patch] = release.split(".").map(Number);
  return `0.${Number(major) * 100 + Number(minor)}.${patch}`;
};

describe("the versions of the real parts", () => {
  test.each([
    { program: "kubernetes", folder: "control-plane", module: "k8s.io/kubernetes" },
    { program: "etcd", folder: "control-plane", module: "go.etcd.io/etcd/server/v3" },
    { program: "kwok", folder: "kwok", module: "sigs.k8s.io/kwok" },
    { program: "aws-iam-authenticator", folder: "control-plane", module: "sigs.k8s.io/aws-iam-authenticator" },
    { program: "gateway-api", folder: "gateway-api", module: "sigs.k8s.io/gateway-api" },
    { program: "prometheus", folder: "prometheus", module: "github.com/prometheus/prometheus" },
    { program: "registry", folder: "registry", module: "github.com/distribution/distribution/v3" },
    { program: "versitygw", folder: "versitygw", module: "github.com/versity/versitygw" },
  ] as const)(
    "of $program are those that its go.mod requires and its go.sum lists",
    async ({ program, folder, module }) => {
      // Prometheus v3.5.1 is module version v0.305.1.
      const version = program === "prometheus" ? moduleVersion(versions.prometheus) : versions[program];
      const wanted = `${module} v${version}`;
      expect(await read(`go/${folder}/go.mod`)).toMatch(new RegExp(`^(require )?\\t?${wanted}$`, "m"));
      expect(await read(`go/${folder}/go.sum`)).toContain(`${wanted} h1:`);
    },
  );

  test("of Kubernetes' own modules are those of its release", async () => {
    const replaced = (await read("go/control-plane/go.mod")).match(/=> k8s\.io\/\S+ \S+/g) ?? [];
    const release = `v0.${versions.kubernetes.split(".").slice(1).join(".")}`;
    expect(replaced.length).toBeGreaterThan(20);
    expect(replaced.filter((line) => !line.endsWith(` ${release}`))).toEqual([]);
  });

  test.each([
    { program: "dynamodb", jar: "DynamoDBLocal" },
    { program: "sqs", jar: "elasticmq-server_2.13" },
  ] as const)("of $program are in its list of checksums", async ({ program, jar }) => {
    expect(await read(`maven/${program}.sha256`)).toMatch(
      new RegExp(`^[0-9a-f]{64}  ${jar}-${versions[program]}\\.jar$`, "m"),
    );
  });

  test("of Lambda's runtime are those in its lock file", async () => {
    const lock: unknown = JSON.parse(await read("npm/aws-lambda-ric/package-lock.json"));
    const version = versions["aws-lambda-ric"];
    const installed = { version, integrity: expect.stringMatching(/^sha512-/) };
    expect(lock).toMatchObject({ packages: { "node_modules/aws-lambda-ric": installed } });
  });

  test("of moto and of the command line of AWS are those that the requirements pin", async () => {
    expect(await read("python/requirements.txt")).toContain(`\nmoto==${versions.moto} `);
    expect(await read("python/awscli.txt")).toContain(`\nawscli==${versions.awscli} `);
  });
});
