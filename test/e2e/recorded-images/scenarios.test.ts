import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownSluice } from "../recorded-flux/own-sluice.ts";
import { type ImageRegistry, imageRegistry } from "./image-registry.ts";
import { readRecordings } from "./recording.ts";
import { Scene } from "./scene.ts";

const { signal } = new AbortController();
const recordings = await readRecordings();
const sluice = ownSluice(signal);
let registry: ImageRegistry | undefined;
beforeAll(async () => {
  registry = await imageRegistry(signal);
});
afterAll(() => registry?.[Symbol.asyncDispose]());

describe.concurrent("Sluice reaches the same state as image-reflector-controller, step by step", () => {
  test.for(recordings)("$name", async (recording) => {
    if (registry === undefined) throw new Error("asked for before the tests began");
    const played = await new Scene(recording, sluice(), registry, signal).play();
    expect(played).toEqual(recording.steps.map(({ step }) => step));
  });
});
