import { expect, test } from "vitest";
import { isAllowedKey } from "../../../../functions/settings/allowed-keys.ts";

const key = "arn:aws:kms:eu-west-1:111122223333:key/1";
const other = "arn:aws:kms:eu-west-1:111122223333:key/12";
const role = "arn:aws:iam::111122223333:role/apps";
const allowed = { apps: [key, `${other}+${role}`], web: [] };

test.each([
  { what: "a listed key", namespace: "apps", sealedBy: key, role: undefined, is: true },
  { what: "a listed key with a listed role", namespace: "apps", sealedBy: other, role, is: true },
  { what: "a role that is listed with another key", namespace: "apps", sealedBy: key, role, is: false },
  { what: "a key that is listed with a role alone", namespace: "apps", sealedBy: other, role: undefined, is: false },
  { what: "a key whose name has the same prefix", namespace: "apps", sealedBy: `${key}1`, role: undefined, is: false },
  { what: "a key and a role in one text", namespace: "apps", sealedBy: `${other}+${role}`, role: undefined, is: false },
  { what: "a namespace without keys", namespace: "web", sealedBy: key, role: undefined, is: false },
  { what: "a namespace that is not listed", namespace: "toString", sealedBy: key, role: undefined, is: false },
])("Sluice's identity may decrypt data keys of $what: $is", ({ namespace, sealedBy, role: named, is }) => {
  expect(isAllowedKey(allowed, namespace, { sealedBy, role: named })).toBe(is);
});
