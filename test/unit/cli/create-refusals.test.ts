import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../doubles/run-command.ts";

const tls = join(import.meta.dirname, "../../fixtures/tls");
const [cert, key, otherKey] = ["client.crt", "client.key", "rsa.key"].map((name) => join(tls, name));
const policy = join(import.meta.dirname, "../../fixtures/flux-create/trustpolicy.json");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-refused-"));
  await writeFile(join(folder, "der.crt"), Buffer.from([0x30, 0x82, 0xff, 0xfe]));
  await writeFile(join(folder, "large.crt"), "x".repeat(1024 * 1024 + 1));
  await writeFile(join(folder, "empty.pem"), "");
  await writeFile(join(folder, "policy.json"), '{"version": "2.0"}');
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs `create …`; `@NAME` in a value is a file of the test's folder. */
async function refusalOf(line: string): Promise<string> {
  const args = line.split(" ").map((word) => word.replace("=@", `=${folder}/`));
  const { code, out, err } = await runCommand(["create", ...args, "--export"], { env: {}, folder });
  expect([code, out]).toEqual([1, ""]);
  return err.replaceAll(folder, "");
}

const source = "source oci app --url=oci://ghcr.io/org/app";
const githubApp = `githubapp app --app-id=1 --app-private-key=${key}`;

describe("sluice create refuses", () => {
  test.each([
    ["source oci app", "url is required"],
    [source, "--tag, --tag-semver or --digest is required"],
    [
      `${source} --tag=1 --layer-selector=tar`,
      `invalid --layer-selector "tar": must be in the format '<media-type>:<operation>'`,
    ],
    [
      `${source} --tag=1 --layer-selector=tar:unpack`,
      `invalid --layer-selector "tar:unpack": operation must be "extract" or "copy"`,
    ],
    [
      `${source} --tag=1 --verify-secret-ref=keys`,
      "a verification provider must be specified when a secret is specified",
    ],
    [
      `${source} --tag=1 --verify-subject=me`,
      "a verification provider must be specified when OIDC issuer/subject is specified",
    ],
    ["source chart app --chart=app", "chart source is required"],
    ["source chart app --source=HelmRepository/charts", "chart name or path is required"],
    [
      "source chart app --source=charts --chart=app",
      "invalid helm chart source 'charts', must be in format <kind>/<name>",
    ],
    [
      "source chart app --source=OCIRepository/charts --chart=app",
      "source kind 'OCIRepository' is not supported, must be one of: HelmRepository, GitRepository, Bucket",
    ],
    [
      "source chart app --source=Bucket/charts --chart=app --verify-subject=me",
      "a verification provider must be specified when OIDC issuer/subject is specified",
    ],
    ["receiver app --secret-ref=token", "Receiver type is required"],
    ["receiver app --type=github", "secret ref is required"],
    ["receiver app --type=github --secret-ref=token", "atleast one resource is required: give --resource KIND/NAME"],
    [
      "receiver app --type=github --secret-ref=token --resource=app",
      "invalid event source 'app', must be in format <kind>/<name>",
    ],
    ["tenant dev", "with-namespace is required"],
    ["tenant dev --with-namespace=a --cluster-role=", "cluster-role is required"],
    ["tenant dev --with-namespace=a_", "invalid namespace 'a_': name part must consist of alphanumeric characters"],
  ])("%s, in flux's words", async (line, message) => {
    expect(await refusalOf(line)).toContain(`✗ ${message}`);
  });

  test.each([
    ["git app --url=https://git.example.com/app", "for Git over HTTP/S the username and password, or a bearer token"],
    ["helm app --username=bot", "password is required"],
    ["helm app --password=p4ss", "username is required"],
    ["oci app --username=bot --password=p4ss", "--url is required"],
    ["oci app --url=ghcr.io --password=p4ss", "--username is required"],
    ["oci app --url=ghcr.io --username=bot", "--password is required"],
    [
      "oci app --url=oci://ghcr.io/app --username=bot --password=p4ss",
      "error parsing url: 'oci://ghcr.io/app' is not a registry: write it without scheme and login, like ghcr.io or ghcr.io/org/app",
    ],
    [
      "oci app --url=https://bot:p4ss@ghcr.io --username=bot --password=p4ss",
      "error parsing url: --url is not a registry: write it without scheme and login",
    ],
    ["tls app", "no CA certificate or client certificate pair found: give --ca-crt-file, or --tls-crt-file and"],
    [`tls app --tls-crt-file=${cert}`, "found certificate but missing private key: give --tls-key-file"],
    [`tls app --tls-key-file=${key}`, "found private key but missing certificate: give --tls-crt-file"],
    [
      `tls app --tls-crt-file=${cert} --tls-key-file=${otherKey}`,
      "invalid TLS certificate and key pair: tls: private key does not match",
    ],
    ["tls app --ca-crt-file=@none.crt", "unable to read TLS CA file: ENOENT: no such file or directory"],
    ["tls app --ca-crt-file=@der.crt", "unable to read TLS CA file: /der.crt is not text: convert it to PEM"],
    ["tls app --ca-crt-file=@large.crt", "unable to read TLS CA file: /large.crt is longer than 1 MiB"],
    ["proxy app", "address is required"],
    ["proxy app --address=proxy:p4ss@host", "invalid proxy address: proxy URL must use one of the supported schemes"],
    ["receiver app --hostname=a.example.com", "--type is required"],
    ["receiver app --type=github", "--hostname is required"],
    ["receiver app --type=gcr --hostname=a.example.com", "--email-claim is required for gcr receiver type"],
    [`notation app --trust-policy-file=${policy}`, "--ca-cert-file is required"],
    [`notation app --ca-cert-file=${cert}`, "--trust-policy-file is required"],
    [
      `notation app --trust-policy-file=@policy.json --ca-cert-file=${cert}`,
      'invalid trust policy: /policy.json: trust policy document uses unsupported version "2.0"',
    ],
    [
      `notation app --trust-policy-file=${policy} --ca-cert-file=${key}`,
      "client.key must end with either .crt or .pem",
    ],
    [
      `notation app --trust-policy-file=${policy} --ca-cert-file=${cert},${cert}`,
      "two files of --ca-cert-file are named client.crt: give them different names",
    ],
    [`githubapp app --app-private-key=${key}`, "githubAppID is required: give --app-id"],
    ["githubapp app --app-id=1", "githubAppPrivateKey is required: give its file with --app-private-key"],
    ["githubapp app --app-id=1 --app-private-key=@empty.pem", "githubAppPrivateKey is required: /empty.pem is empty"],
    [
      githubApp,
      "exactly one of githubAppInstallationOwner or githubAppInstallationID must be provided: give --app-inst",
    ],
    [
      `${githubApp} --app-installation-id=1 --app-installation-owner=org`,
      "exactly one of githubAppInstallationOwner or githubAppInstallationID must be provided: give --app-inst",
    ],
  ])("secret %s, and quotes no value", async (line, message) => {
    const text = await refusalOf(`secret ${line}`);
    expect(text).toContain(`✗ ${message}`);
    expect(text).not.toContain("p4ss");
  });

  test.each([
    ["team", "invalid label format 'team', must be key=value"],
    ["a=b=c", "invalid label format 'a=b=c', must be key=value"],
    ["-a=b", "invalid label '-a': "],
    ["a=b/c", "invalid label value 'b/c': "],
  ])("the label %s, in flux's words", async (label, message) => {
    expect(await refusalOf(`secret helm app --label=${label}`)).toContain(`✗ ${message}`);
  });
});
