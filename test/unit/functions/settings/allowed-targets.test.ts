import { expect, test } from "vitest";
import { isTargetPattern, listedTarget } from "../../../../functions/settings/allowed-targets.ts";

const arn = "arn:aws:eks:eu-west-1:111122223333:cluster/edge";
const far = "arn:aws:eks:eu-west-1:444455556666:cluster/far";
const role = "arn:aws:iam::444455556666:role/a+b";
const allowed = { apps: [arn, `${far}+${role}`], web: [] };

test.each([
  { what: "a listed cluster", namespace: "apps", target: arn, entry: { role: undefined } },
  { what: "one that is listed with a role", namespace: "apps", target: far, entry: { role } },
  { what: "one whose name has the same prefix", namespace: "apps", target: `${arn}2`, entry: undefined },
  { what: "a cluster and a role in one text", namespace: "apps", target: `${far}+${role}`, entry: undefined },
  { what: "a namespace without clusters", namespace: "web", target: arn, entry: undefined },
  { what: "a namespace that is not listed", namespace: "toString", target: arn, entry: undefined },
])("Kustomizations may apply to $what: $entry", ({ namespace, target, entry }) => {
  expect(listedTarget(allowed, namespace, target)).toEqual(entry);
});

test.each([
  { text: arn, is: true },
  { text: `${far}+${role}`, is: true },
  { text: `${arn}+${role}`, is: false },
  { text: `${arn}+`, is: false },
  { text: "edge", is: false },
])("$text names a cluster and a role of its account: $is", ({ text, is }) => {
  expect(isTargetPattern(text)).toBe(is);
});
