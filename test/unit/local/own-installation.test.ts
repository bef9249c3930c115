import { expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import { ownInstallation, stateInstallation } from "../../../local/own-installation.ts";

const key = "ab".repeat(32);
const folder = (path: string, hex = key) => ({ path, installationKey: new Secret(hex) });

test("the installation of a state folder keeps its id when the folder is moved, and the id does not reveal the key", () => {
  const { id, where } = stateInstallation(folder("/home/me/.sluice"));
  expect(id).toMatch(/^local-[0-9a-f]{16}$/);
  expect(where).toMatch(/:\/home\/me\/\.sluice$/);
  expect(stateInstallation(folder("/elsewhere")).id).toBe(id);
  expect(stateInstallation(folder("/home/me/.sluice", "cd".repeat(32))).id).not.toBe(id);
  expect(key).not.toContain(id.slice("local-".length));
});

test("the take-over command can be pasted into a shell", () => {
  const { takeOverCommand } = ownInstallation(folder("/home/me/my state"), { file: "/k/config", context: "it's" });
  expect(takeOverCommand).toBe(
    "sluice take-over --state '/home/me/my state' --kubeconfig /k/config --context 'it'\\''s'",
  );
});
