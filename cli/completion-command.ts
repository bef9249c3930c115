import { Argument, type Command } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import type { ChosenOptions, Completion } from "./complete-words.ts";
import type { Shell } from "./completion-scripts.ts";
import type { Session, Surroundings } from "./session.ts";

/** A shell waits for the answer while its user does. */
const askClusterFor = "3s";
/** More names are no help, and a shell asks before it lists so many. */
const maxNames = 500;

/** `completion`, which prints what a shell sources, and the hidden command that the shell then asks at each Tab. */
export function addCompletionCommands(
  root: Command,
  kinds: readonly KindDeclaration[],
  surroundings: Surroundings,
): void {
  const shells: readonly Shell[] = ["bash", "zsh", "fish"];
  const { terminal } = surroundings;
  const completion = root
    .command("completion")
    .description("print the script that completes commands, options and names of objects in a shell")
    .addArgument(new Argument("<shell>", "your shell").choices(shells));
  completion.action(async (shell: Shell) => {
    const { completionScripts } = await import("./completion-scripts.ts");
    terminal.document(completionScripts[shell]);
  });
  completion.addHelpText(
    "after",
    () => `
Have your shell read it at each start:
  bash  add to ~/.bashrc: source <(sluice completion bash)
  zsh   add to ~/.zshrc, after compinit: source <(sluice completion zsh)
  fish  run once: sluice completion fish > ~/.config/fish/completions/sluice.fish`,
  );
  root.command("__complete [words...]", { hidden: true }).action(async (words: readonly string[]) => {
    const { complete } = await import("./complete-words.ts");
    terminal.document(await answer(complete(root, words, kinds), words.at(-1) ?? "", surroundings));
  });
}

async function answer(completion: Completion, start: string, surroundings: Surroundings): Promise<string> {
  if (completion.kind === "files") return ":files\n";
  if (completion.kind === "words") {
    return completion.words
      .map(({ word, description }) => `${[word, description].filter(Boolean).join("\t")}\n`)
      .join("");
  }
  const names = await namesOf(completion.of, completion.line, surroundings);
  return names
    .filter((name) => name.startsWith(start))
    .slice(0, maxNames)
    .map((name) => `${name}\n`)
    .join("");
}

/** The names of the objects, or none where the cluster does not answer: an error would land in the middle of what the user types. */
async function namesOf(
  kind: KindDeclaration,
  line: ChosenOptions,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  const { withCluster } = await import("./session.ts");
  const chosen = (["namespace", "kubeconfig", "context", "cluster"] as const).flatMap((name) => {
    const value = line.get(`--${name}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  const options = { ...Object.fromEntries(chosen), timeout: askClusterFor };
  return withCluster(options, surroundings, (session) => listNames(kind, session)).catch(() => []);
}

async function listNames(
  { group, versions: [version], kind }: KindDeclaration,
  { cluster, namespace, signal }: Session,
): Promise<readonly string[]> {
  const objects = await cluster.listMetadata({ group, version, kind, namespace }, signal);
  // A valid object name is a single word for the shell. Everything else is left out.
  return objects
    .map(({ metadata }) => metadata.name)
    .filter((name) => /^[\w.-]+$/.test(name))
    .toSorted();
}
