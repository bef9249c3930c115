import { Command } from "commander";
import { expect, test } from "vitest";
import { fromGoFlags } from "../../../cli/go-flags.ts";

const root = new Command("sluice").option("--timeout <duration>").option("-n, --namespace <namespace>");
root
  .command("create")
  .option("--wait", "a switch")
  .option("-s, --silent", "a switch with a short name")
  .option("--private", "a switch that is on", true)
  .option("--no-private", "its opposite")
  .option("--policy [value]", "a value that may be left out");

test.each([
  { args: ["create", "--wait=true", "name"], read: ["create", "--wait", "name"] },
  { args: ["create", "--wait=false", "name"], read: ["create", "name"] },
  { args: ["create", "--private=false"], read: ["create", "--no-private"] },
  { args: ["create", "--private=true"], read: ["create", "--private"] },
  { args: ["create", "--wait", "true"], read: ["create", "--wait", "true"] },
  { args: ["create", "--wait=yes"], read: ["create", "--wait=yes"] },
  { args: ["--timeout=true", "--policy=false"], read: ["--timeout=true", "--policy=false"] },
  { args: ["create", "--unknown=true"], read: ["create", "--unknown=true"] },
  { args: ["-n=apps", "create"], read: ["-n", "apps", "create"] },
  { args: ["create", "-s=true", "name"], read: ["create", "-s", "name"] },
  { args: ["create", "-s=false", "name"], read: ["create", "name"] },
  { args: ["create", "-x=true"], read: ["create", "-x=true"] },
  { args: ["create", "-x=apps"], read: ["create", "-x=apps"] },
  { args: ["create", "--", "--wait=true"], read: ["create", "--", "--wait=true"] },
])("the arguments $args are parsed as $read", ({ args, read }) => {
  expect(fromGoFlags(args, root)).toEqual(read);
});
