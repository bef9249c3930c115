import { statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { verifiedFiles } from "../../../../local/state/verified-files.ts";

const digest = digestOf("an artifact");
/** A time that `utimes` can set again exactly. */
const wholeSeconds = 1_000_000_000;

describe("a file that is looked at again", () => {
  let folder = "";
  let file = "";
  let reads = 0;
  let writtenAt = 0;
  let aheadMs = 3_600_000;
  let isDamaged = false;
  const files = () =>
    verifiedFiles({ now: () => writtenAt + aheadMs }, async (path) => {
      reads += 1;
      return isDamaged ? Buffer.from("bn artifact") : readFile(path);
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-verified-"));
    file = join(folder, "artifact");
    await writeFile(file, "an artifact");
    utimesSync(file, wholeSeconds, wholeSeconds);
    writtenAt = statSync(file).ctimeMs;
    reads = 0;
    aheadMs = 3_600_000;
    isDamaged = false;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("is not read again while it is unchanged", async () => {
    const looked = files();
    expect([await looked.holds(file, digest), await looked.holds(file, digest)]).toEqual([true, true]);
    expect(reads).toBe(1);
  });

  test("is read again if it was verified as soon as it was written, since the next write may leave the same times", async () => {
    aheadMs = 0;
    const looked = files();
    expect([await looked.holds(file, digest), await looked.holds(file, digest)]).toEqual([true, true]);
    expect(reads).toBe(2);
  });

  test("is found to be changed, although size and time of its content are as before", async () => {
    const looked = files();
    await looked.holds(file, digest);
    const before = statSync(file, { bigint: true });
    // Until the file system's clock has gone on: the store trusts none that was just written.
    do {
      writeFileSync(file, "bn artifact");
      utimesSync(file, wholeSeconds, wholeSeconds);
    } while (statSync(file, { bigint: true }).ctimeNs === before.ctimeNs);
    expect(await looked.holds(file, digest)).toBe(false);
  });

  test("is found to be replaced by another of the same size", async () => {
    const looked = files();
    await looked.holds(file, digest);
    await writeFile(join(folder, "other"), "bn artifact");
    await rename(join(folder, "other"), file);
    expect(await looked.holds(file, digest)).toBe(false);
  });

  test("is read again after a reader has found bytes that changed without a write", async () => {
    const looked = files();
    await looked.holds(file, digest);
    isDamaged = true;
    expect(await looked.holds(file, digest)).toBe(true);
    expect(await looked.read(file, digest)).toBeUndefined();
    expect(await looked.holds(file, digest)).toBe(false);
  });

  test("is read again for another digest", async () => {
    const looked = files();
    await looked.holds(file, digest);
    expect(await looked.holds(file, digestOf("another"))).toBe(false);
  });

  test("is missing once it is removed", async () => {
    const looked = files();
    await looked.holds(file, digest);
    await rm(file);
    expect(await looked.holds(file, digest)).toBe(false);
  });
});
