import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DeadLetters, maxLetterChars, maxMessageBytes } from "../../lib/core/ports/wake-ups.ts";
import { keyOf, never } from "./state-back-end.ts";

export interface DeadLettersBackEnd {
  readonly deadLetters: DeadLetters;
  /** The text of each letter that is there, in any order. */
  letters(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The dead letters as their reader finds them. */
export function deadLettersContract(name: string, open: () => Promise<DeadLettersBackEnd>): void {
  describe(`dead letters: ${name}`, () => {
    let place: DeadLettersBackEnd;
    beforeEach(async () => {
      place = await open();
    });
    afterEach(() => place.close());

    const key = "home/kustomize.toolkit.fluxcd.io/Kustomization/apps/web";
    const found = async () => (await place.letters()).map((text): unknown => JSON.parse(text));

    test("a dead letter has its object, the number of attempts and the reason, whatever characters the error contains", async () => {
      const message = `registry said "\u0000\u0007\n" and \uFFFE\uFFFF and \u{1F409}`;
      await place.deadLetters.send({ key: keyOf("web"), attempts: 12, message }, never);
      expect(await found()).toEqual([{ key, attempts: 12, message }]);
    });

    test("all dead letters of one object are kept, and so are those of others", async () => {
      const of = [keyOf("web"), keyOf("web"), keyOf("api")];
      for (const [index, each] of of.entries()) {
        await place.deadLetters.send({ key: each, attempts: index, message: "" }, never);
      }
      const api = key.replace("web", "api");
      const all = [key, key, api].map((each, attempts) => ({ key: each, attempts, message: "" }));
      expect(await found()).toEqual(expect.arrayContaining(all));
      expect(await found()).toHaveLength(3);
    });

    test("an error text is cut, so that even the longest dead letter is far below the limit", async () => {
      const long = "n".repeat(253);
      const longest = { cluster: long, group: long, kind: long, namespace: long, name: long };
      // A character of six bytes in JSON, and more of them than any queue takes.
      await place.deadLetters.send({ key: longest, attempts: 12, message: "\u0000".repeat(2_000_000) }, never);
      const [text = ""] = await place.letters();
      expect(JSON.parse(text)).toMatchObject({ attempts: 12, message: "\u0000".repeat(maxLetterChars) });
      expect(Buffer.byteLength(text)).toBeLessThan(maxMessageBytes / 2);
    });

    test("a text is not cut inside a character", async () => {
      const message = `${"m".repeat(maxLetterChars - 1)}\u{1F409}`;
      await place.deadLetters.send({ key: keyOf("web"), attempts: 1, message }, never);
      expect(await found()).toEqual([{ key, attempts: 1, message: "m".repeat(maxLetterChars - 1) }]);
    });

    test("no dead letter is written under an aborted signal", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      const sending = place.deadLetters.send({ key: keyOf("web"), attempts: 1, message: "m" }, stopped);
      await expect(sending).rejects.toThrow("time is up");
      expect(await place.letters()).toEqual([]);
    });
  });
}
