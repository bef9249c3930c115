import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hasManifests, pushArtifact } from "../../../cli/push-artifact.ts";
import { TimeIsUp } from "../../../cli/session.ts";
import { terminal } from "../../../cli/terminal.ts";

const fileWith = (text: string) => ({ type: "file", path: "app.yaml", mode: 0o644, bytes: Buffer.from(text) }) as const;

describe("whether a file has manifests", () => {
  test("does not depend on how blank lines, comments and document marks are spaced", () => {
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
    ["blank lines", "\n"],
    ["spaces", " "],
    ["document marks", "---\n"],
    ["blank lines after document marks", "---\n\n\n\n\n\n\n\n"],
  ])("is found for a megabyte of %s before the test runs out of time", (_, piece) => {
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

  test("begins when the user has answered, and ends a push to a registry that does not", async () => {
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
