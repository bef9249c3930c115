import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hasManifests, type PushOptions, pushArtifact } from "../../../cli/push-artifact.ts";
import { TimeIsUp } from "../../../cli/session.ts";
import { terminal } from "../../../cli/terminal.ts";
import { messageOf } from "../../../lib/core/failure.ts";

const fileWith = (text: string) => ({ type: "file", path: "app.yaml", mode: 0o644, bytes: Buffer.from(text) }) as const;

describe("the check whether a file has manifests", () => {
  test("does not depend on blank lines, comments and document markers", () => {
    const piece = fc.constantFrom(
      "\n",
      "\r\n",
      " ",
      "\t",
      "#",
      "---",
      "...",
      "null",
      "~",
      "a",
      "\u00a0",
      "\u2028",
      "- ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        const lines = text.split(/[\n\r\u2028\u2029]/).map((line) => line.trim());
        const hasContent = lines.some(
          (line) => line !== "" && !line.startsWith("#") && !["---", "...", "null", "~"].includes(line),
        );
        expect(hasManifests([fileWith(text)])).toBe(hasContent);
      }),
    );
  });

  test.each([
    ["app.yaml", true],
    ["apps/app.yml", true],
    ["Kustomization", true],
    ["apps/Kustomization", true],
    ["myKustomization", false],
    ["Kustomization/readme.md", false],
    ["app.yaml.tmpl", false],
    ["appyaml", false],
    ["app.json", false],
  ])("finds them by name: %s, %s", (path, has) => {
    expect(hasManifests([{ ...fileWith("a: b"), path }])).toBe(has);
  });

  test.each([
    ["blank lines", "\n"],
    ["spaces", " "],
    ["document marks", "---\n"],
    ["blank lines after document marks", "---\n\n\n\n\n\n\n\n"],
  ])("ends for a megabyte of %s before the test times out", (_, piece) => {
    expect(hasManifests([fileWith(piece.repeat(2 ** 20 / piece.length))])).toBe(false);
  });
});

describe("the time limit of a push", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-push-"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await rm(folder, { recursive: true });
  });

  test("starts when the user has answered, and aborts a push to a registry that does not", async () => {
    const limitMs = 50;
    const happened: string[] = [];
    const silent = createServer(() => {
      happened.push("connected");
      vi.advanceTimersByTime(limitMs);
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { setTimeout: really } = await vi.importActual<typeof import("node:timers/promises")>("node:timers/promises");
    const confirm = async (): Promise<boolean> => {
      vi.advanceTimersByTime(limitMs * 2);
      await really(limitMs * 2);
      happened.push("answered");
      return true;
    };
    const ignored = () => {};
    const pushing = pushArtifact(
      `oci://127.0.0.1:${port}/app:v1`,
      { path: folder, source: "https://git.test/app", revision: "main", timeout: `${limitMs}ms`, insecure: true },
      {
        terminal: terminal(ignored, ignored, { columns: () => undefined, isScreen: true, confirm }),
        ...{ env: {}, homeDir: folder, cwd: folder, stdin: Readable.from([]), onSignal: ignored },
        signal: new AbortController().signal,
        exit: () => {
          throw new Error("exit");
        },
      },
    );
    await expect(pushing).rejects.toThrow(new TimeIsUp());
    expect(happened.slice(0, 2)).toEqual(["answered", "connected"]);
    silent.close();
  });
});

describe("a push whose revision git says", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-push-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Pushes with a `git` that answers the commit 0123 of the branch main, and does this when it is asked for changes. */
  async function pushed(status: string, timeout: string): Promise<{ readonly said: string; readonly fault: string }> {
    const script = `#!/bin/sh
case $1 in
  status) ${status} ;;
  config) exit 1 ;;
  rev-parse) echo 0123 ;;
  symbolic-ref) echo main ;;
  *) exit 1 ;;
esac
`;
    await writeFile(join(folder, "git"), script, { mode: 0o755 });
    let said = "";
    const pushing = pushArtifact(
      "oci://127.0.0.1:1/app:v1",
      { path: folder, source: "https://git.test/app", allowEmpty: true, timeout, insecure: true },
      {
        terminal: terminal(
          () => {},
          (text) => {
            said += text;
          },
        ),
        env: { PATH: `${folder}:/usr/bin:/bin` },
        ...{ homeDir: folder, cwd: folder, stdin: Readable.from([]), onSignal: () => {} },
        signal: new AbortController().signal,
        exit: () => {
          throw new Error("exit");
        },
      },
    );
    const fault = await pushing.then(() => "", messageOf);
    return { said, fault };
  }

  test("warns and continues if git cannot tell whether there are uncommitted changes", async () => {
    const { said } = await pushed("echo 'fatal: index file corrupt' >&2; exit 128", "1m");
    expect(said).toContain("using source https://git.test/app and revision main@sha1:0123");
    expect(said).toContain(`git cannot tell whether ${folder} has uncommitted changes: index file corrupt`);
    expect(said).toContain("pushing artifact to 127.0.0.1:1/app:v1");
  });

  test("ends with --timeout while git answers", async () => {
    expect(await pushed("exec sleep 600", "1ms")).toEqual({ said: "", fault: new TimeIsUp().message });
  });
});

describe("a push to a registry over HTTP", () => {
  /** What the registry was sent in Authorization headers before the push failed, and why it failed. */
  async function pushWith(options: PushOptions): Promise<{ readonly seen: readonly string[]; readonly fault: string }> {
    const seen = new Set<string>();
    const registry = createHttpServer(({ headers }, response) => {
      seen.add(headers.authorization ?? "");
      response.writeHead(401, { "www-authenticate": 'Basic realm="registry"' }).end();
    });
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const address = registry.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const folder = await mkdtemp(join(tmpdir(), "sluice-push-"));
    const ignored = () => {};
    try {
      await pushArtifact(
        `oci://127.0.0.1:${port}/app:v1`,
        { path: folder, source: "https://git.test/app", revision: "main", allowEmpty: true, ...options },
        {
          terminal: terminal(ignored, ignored),
          ...{ env: {}, homeDir: folder, cwd: folder, stdin: Readable.from([]), onSignal: ignored },
          signal: new AbortController().signal,
          exit: () => {
            throw new Error("exit");
          },
        },
      );
      throw new Error("the registry took the push");
    } catch (error) {
      return { seen: [...seen].filter((one) => one !== ""), fault: messageOf(error) };
    } finally {
      await rm(folder, { recursive: true });
      registry.close();
      registry.closeAllConnections();
    }
  }

  const basic = (login: string) => `Basic ${Buffer.from(login).toString("base64")}`;

  test.each([{ insecure: true }, { insecureRegistry: true }])(
    "logs in with the complete --creds: %o",
    async (allowed) => {
      const creds = "eve:one:two";
      expect((await pushWith({ ...allowed, creds })).seen).toEqual([basic(creds)]);
    },
  );

  test.each(["eve", ":secret", ""])("refuses --creds %j before any request, and does not repeat it", async (creds) => {
    expect(await pushWith({ insecure: true, creds })).toEqual({
      seen: [],
      fault: 'invalid argument for "--creds" flag: write it like user:password',
    });
  });
});
