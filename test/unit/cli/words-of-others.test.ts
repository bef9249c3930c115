import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { program } from "../../../cli/program.ts";
import type { Surroundings } from "../../../cli/session.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { runCommand } from "../../doubles/run-command.ts";
import { fakeSession } from "./fake-session.ts";

/** Every command path of flux 2.9.4, aliases too, one a line: from the cobra commands of its cmd/flux, without the hidden docgen. */
const commandsOfFlux = readFileSync(new URL("flux-2.9-commands.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

const { terminal, signal } = fakeSession([]);
const surroundings: Surroundings = {
  terminal,
  env: {},
  homeDir: "/",
  cwd: "/",
  stdin: (async function* () {})(),
  signal,
  onSignal: () => {},
  exit: () => {
    throw new Error("exit");
  },
};

/** `bash` in `completion bash` is an argument with a list of choices: for any other word, the error has the list. */
function commandAt(path: string): Command | undefined {
  return path.split(" ").reduce<Command | undefined>(
    (command, word) => {
      if (command?.registeredArguments.some(({ argChoices }) => argChoices !== undefined) === true) return command;
      return command?.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    },
    program(surroundings, declaredKinds),
  );
}

function isHidden(command: Command): boolean {
  return command.parent?.createHelp().visibleCommands(command.parent).includes(command) === false;
}

async function errorOf(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand(args, { env: {}, folder: "/", kinds: undefined, confirm: undefined });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^✗ [^\n]+\n$/);
  return err;
}

describe("the words of flux, kubectl and argocd", () => {
  test("every command of flux 2.9 is a command of Sluice, or is answered with a replacement", async () => {
    const found = commandsOfFlux.map((path) => ({ path, command: commandAt(path) }));
    expect(found.filter(({ command }) => command === undefined).map(({ path }) => path)).toEqual([]);
    const others = found.filter(({ command }) => command !== undefined && isHidden(command));
    expect(others.length).toBeGreaterThan(20);
    for (const { path, command } of others) {
      const name = path.replace(/[^ ]+$/, command?.name() ?? "");
      const text = await errorOf(...path.split(" "), "name", "--some-option", "value", "-n", "apps");
      expect(text).toContain(`✗ unknown command '${name}': `);
      expect(text.length).toBeGreaterThan(name.length + 40);
    }
  });

  test.each([
    ["tree ks app", "flux tree kustomization NAME"],
    ["install --export", "npx cdk deploy"],
    ["logs --help", "CloudWatch"],
    ["tag artifact oci://a/b:1 --tag=2", "oras tag"],
    ["bootstrap gitea --owner=x", "sluice bootstrap git --url=URL"],
    ["sync apps", "sluice reconcile kustomization NAME --with-source"],
    ["check --pre", "sluice check without it"],
    ["check --components=source-controller", "Sluice has no components in the cluster"],
    ["push artifact oci://a/b --provider=aws", "aws ecr get-login-password"],
    ["export source git app --with-credentials", "kubectl get secret NAME -o yaml"],
    ["describe ks/apps", "sluice events --for KIND/NAME"],
  ])("sluice %s is answered with %s", async (line, instead) => {
    expect(await errorOf(...line.split(" "))).toContain(instead);
  });

  test("are not shown by the help and by guesses for other words", async () => {
    expect(program(surroundings, declaredKinds).helpInformation()).not.toMatch(/^ {2}(tree|logs|sync)/m);
    expect(await errorOf("logz")).not.toContain("logs");
  });
});
