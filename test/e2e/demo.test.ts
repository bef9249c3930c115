import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { gitPrograms } from "../../local/demo/git-http-backend.ts";
import { demo } from "./run-demo.ts";

const usage =
  "usage: npm run demo [-- canary | git | helm | images | notify | overlays | signed | --kubeconfig FILE [--context NAME]]\n";

test.each([
  { args: ["--help"], ends: { code: 0, out: usage, err: "" } },
  {
    args: ["--foo"],
    ends: { code: 2, out: "", err: expect.stringMatching(/^✘ Unknown option '--foo'[^\n]*\nusage/) },
  },
  {
    args: ["git", "--kubeconfig", "/nowhere"],
    ends: { code: 2, out: "", err: expect.stringMatching(/^✘ the story of git plays on the embedded cluster alone/) },
  },
  {
    args: ["overlays", "git"],
    ends: { code: 2, out: "", err: expect.stringMatching(/^✘ Unexpected argument 'git'[^\n]*\nusage/) },
  },
  {
    args: ["foo"],
    ends: { code: 2, out: "", err: expect.stringMatching(/^✘ Unexpected argument 'foo'[^\n]*\nusage/) },
  },
  { args: ["--context", "dev"], ends: { code: 2, out: "", err: `✘ --context needs --kubeconfig FILE\n${usage}` } },
  {
    args: ["--kubeconfig", "/nowhere"],
    ends: { code: 1, out: expect.stringMatching(/^✘ the demo failed: no kubeconfig at [^\n]*\n$/), err: "" },
  },
])("the demo with $args prints in a line or two which arguments it accepts", async ({ args, ends }) => {
  expect(await demo(...args)).toEqual(ends);
});

test.skipIf(gitPrograms === undefined)(
  "the git demo ends as expected: a push with its webhook, and one whose webhook is lost",
  async () => {
    const { code, out, err } = await demo("git");
    expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
    expect(out).toContain("events missed: 1");
  },
  300_000,
);

test.skipIf(gitPrograms === undefined)(
  "the images demo ends as expected: a newer image is committed and rolled out, and barred if its containers fail",
  async () => {
    const { code, out, err } = await demo("images");
    expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
    expect(out).toContain("oddy-test-image:1.3.0");
    expect(out).toMatch(/ImagePolicy\/default\/oddy-test bars 1\.4\.0@sha256:/);
    expect(out).toContain("(barred: 1.4.0)");
  },
  300_000,
);

test("the overlays demo ends as expected: two environments, their variables, and Secrets under SOPS", async () => {
  const { code, out, err } = await demo("overlays");
  expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
  expect(out).toContain('production: "Good morning from production", 3 replicas, Secret decrypted');
});

test("the helm demo ends as expected: a chart is installed, upgraded, corrected, rolled back and uninstalled", async () => {
  const { code, out, err } = await demo("helm");
  expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
  expect(out).toContain('3 replicas, message "Hello from the HelmRelease"');
  expect(out).toContain("Helm rollback to previous release default/podinfo.v3 with chart podinfo@1.1.0");
  expect(out).toContain("its objects and its records are gone, and nothing else");
});

test("the signed demo ends as expected: an unsigned artifact is refused, a signed one rolls out", async () => {
  const { code, out, err } = await demo("signed");
  expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
  expect(out).toContain("nothing is applied, and nothing was downloaded");
  expect(out).toContain("verified signature of revision v1@sha256:");
});

test("the notify demo ends as expected: commit statuses, a failure and an outage in a chat", async () => {
  const { code, out, err } = await demo("notify");
  expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
  expect(out).toMatch(/commit [0-9a-f]{8}: failure, reconciliation failed \(kustomization\/oddy-test\/[0-9a-f]{8}\)/);
  expect(out).toContain("chat: ocirepository/oddy-test.default: ");
  expect(out).toContain("told once, however often it was tried");
});

test("a demo that is stopped reports that, and prints no errors of interrupted calls", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../local/demo/main.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    if (chunk.includes("Sluice started")) child.kill("SIGTERM");
  });
  const [err] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(out.trimEnd().split("\n").at(-1)).toBe("✘ stopped by SIGTERM");
  expect({ err, code: child.exitCode }).toEqual({ err: "", code: 143 });
});
