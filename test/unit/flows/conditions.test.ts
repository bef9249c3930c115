import { expect, test } from "vitest";
import { kubernetesTime } from "../../../lib/core/kubernetes-time.ts";
import { setCondition } from "../../../lib/flows/conditions.ts";
import { statusPatch } from "../../../lib/flows/status-patch.ts";

const [before, now] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
const said = { type: "Ready", status: "False", reason: "BuildFailed", message: "no kustomization" } as const;

test.each([
  { what: "nothing", changed: {}, moves: false },
  { what: "status", changed: { status: "Unknown" }, moves: true },
  { what: "reason", changed: { reason: "ArtifactFailed" }, moves: true },
  { what: "message", changed: { message: "no such path" }, moves: true },
  { what: "generation", changed: { observedGeneration: 2 }, moves: false },
] as const)("the time of a condition changes with a change of $what: $moves", ({ changed, moves }) => {
  const first = setCondition([], { ...said, observedGeneration: 1 }, before);
  const [next] = setCondition(first, { ...said, observedGeneration: 1, ...changed }, now);
  expect(next).toEqual({
    ...said,
    observedGeneration: 1,
    ...changed,
    lastTransitionTime: kubernetesTime(moves ? now : before),
  });
});

test("the time of a condition whose message is cut stays while the message is the same", () => {
  const long = { ...said, message: "x".repeat(40_000) };
  const first = setCondition([], long, before);
  expect(setCondition(first, long, now)).toEqual(first);
});

test("control characters are removed from a condition, and its time stays while its text is the same", () => {
  const hostile = { ...said, message: "no branch \u001b[2J\u202e\nat https://user:hunter2@git.example" };
  const first = setCondition([], hostile, before);
  const message = `no branch ${String.raw`\u001b[2J\u202e`}\nat https://user:*****@git.example`;
  expect(first).toEqual([{ ...said, message, lastTransitionTime: kubernetesTime(before) }]);
  expect(setCondition(first, hostile, now)).toEqual(first);
});

test("the patch of a status contains differences at any depth, and null for removed fields", () => {
  const from = { a: { same: 1, was: 2, gone: 3, inner: { same: 1, was: 2 } }, list: [1, 2], gone: {}, same: { x: 1 } };
  const to = { a: { same: 1, was: 4, new: 5, inner: { same: 1, was: 3 } }, list: [1], new: { y: [2] }, same: { x: 1 } };
  expect(statusPatch(from, to)).toEqual({
    a: { was: 4, gone: null, new: 5, inner: { was: 3 } },
    list: [1],
    gone: null,
    new: { y: [2] },
  });
  expect(statusPatch(from, structuredClone(from))).toBeUndefined();
});
