import { type Command, Option } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredKinds } from "../lib/api/kinds/declared-kinds.ts";

/**
 * The commands of flux 2.9 that Sluice does not have, and words of kubectl and of argocd that people type, each with what to use instead.
 * `ks` in `build kustomization|ks` is an alias. A word below another one needs an entry of that other one before it, or a command.
 */
const answers: Readonly<Record<string, string>> = {
  install:
    "npx cdk deploy installs Sluice in AWS (docs/deploy.md), and sluice local runs it on this machine; both install the custom resource definitions",
  logs: "read the log groups of the functions in CloudWatch, or what sluice local prints; sluice events -A shows what happened to objects",
  "bootstrap bitbucket-server":
    "use sluice bootstrap git --url=URL, and add the webhook to the repository as docs/receivers.md says",
  "bootstrap gitea":
    "use sluice bootstrap git --url=URL, and add the webhook to the repository as docs/receivers.md says",
  build: "flux build works on the same objects; kustomize build DIR builds a folder",
  "build kustomization|ks":
    "use flux build kustomization NAME --path DIR, which works on the same objects, or kustomize build DIR",
  "build artifact": "sluice push artifact packs and pushes in one step; flux build artifact writes a file",
  "diff kustomization|ks":
    "use flux diff kustomization NAME --path DIR, which works on the same objects, or kubectl diff -k DIR",
  "diff artifact": "use flux diff artifact, which works on every registry",
  debug: "use sluice get values NAME for a HelmRelease; for a Kustomization, flux debug works on the same objects",
  "debug helmrelease|hr": "use sluice get values NAME, which also says where each value comes from",
  "debug kustomization|ks": "use flux debug kustomization NAME --show-vars, which works on the same objects",
  envsubst: "use flux envsubst, which works on files alone",
  list: "sluice get all -A lists objects; for artifacts use flux list artifacts oci://HOST/REPOSITORY",
  "list artifacts|artifact":
    "use flux list artifacts oci://HOST/REPOSITORY, which works on every registry, or oras repo tags",
  pull: "use flux pull artifact, which works on every registry",
  "pull artifact": "use flux pull artifact oci://HOST/REPOSITORY:TAG -o DIR, which works on every registry",
  stats: "use sluice get all -A, and with --status-selector ready=false for objects that are not ready",
  tag: "use flux tag artifact, which works on every registry",
  "tag artifact":
    "use flux tag artifact oci://HOST/REPOSITORY:TAG --tag OTHER, which works on every registry, or oras tag",
  trace: "use flux trace, which works on the same objects",
  tree: "use flux tree, which works on the same objects",
  "tree kustomization|ks": "use flux tree kustomization NAME, which works on the same objects",
  "tree artifact": "use flux tree artifact generator NAME, which works on the same objects",
  "tree artifact generator": "use flux tree artifact generator NAME, which works on the same objects",
  trigger: "use flux trigger receiver, which works with the webhooks of Sluice",
  "trigger receiver":
    "use flux trigger receiver NAME, which works with the webhooks of Sluice; sluice get receivers NAME shows the address",
  migrate:
    "run flux migrate before you move from Flux (docs/moving-from-flux.md); with Sluice nothing is left to migrate, and flux migrate -f rewrites files",
  plugin: "sluice has no plugins",
  "plugin install": "sluice has no plugins",
  "plugin list|ls": "sluice has no plugins",
  "plugin search": "sluice has no plugins",
  "plugin uninstall|delete": "sluice has no plugins",
  "plugin update|upgrade": "sluice has no plugins",

  // Words of kubectl and of argocd.
  apply: "use kubectl apply -f FILE for Flux's objects; to push manifests, sluice push artifact",
  describe: "use sluice get KIND NAME -o yaml, and sluice events --for KIND/NAME",
  edit: "use kubectl edit KIND NAME",
  status: "use sluice get all -A for objects, and sluice check for the cluster",
  sync: "use sluice reconcile kustomization NAME --with-source",
  app: "use sluice get kustomizations, or sluice reconcile kustomization NAME --with-source",
};

/** Options of flux that Sluice does not have where flux has them, as `COMMAND OPTION`. */
const optionAnswers: Readonly<Record<string, string>> = {
  "check --pre": "use sluice check without it, which also says what is not installed yet",
  "check --components <names>": "Sluice has no components in the cluster; use sluice check without it",
  "check --components-extra <names>": "Sluice has no components in the cluster; use sluice check without it",
  "push artifact --provider <name>":
    "log in to the registry before: aws ecr get-login-password | docker login --username AWS --password-stdin HOST",
  "export source --with-credentials": "use kubectl get secret NAME -o yaml, which prints the Secret with its values",
};

const kinds: readonly KindDeclaration[] = declaredKinds;
/** `get gitrepositories`, as kubectl names the kinds that are below another word here. */
const kubectlKinds = kinds.flatMap(({ isSource, kind, plural, words }) => {
  const parent = isSource ? "source" : words.parent;
  if (parent === undefined) return [];
  return [[`get ${plural}|${kind.toLowerCase()}`, `use sluice get ${parent} ${words.one} [NAME]`] as const];
});

/**
 * Adds the words of others as hidden commands, which end with an error that says what to use instead, whatever stands behind them. A word
 * that is a command of Sluice stays one.
 */
export function addWordsOfOthers(root: Command): void {
  addOptionsOfOthers(root);
  for (const [path, answer] of [...Object.entries(answers), ...kubectlKinds]) {
    const words = path.split(" ");
    const last = words.pop() ?? "";
    const parent = words.reduce<Command | undefined>((command, word) => command && found(command, word), root);
    const [name = "", ...aliases] = last.split("|");
    if (parent === undefined || found(parent, name) !== undefined) continue;
    parent
      .command(name, { hidden: true })
      .aliases(aliases)
      .helpOption(false)
      .helpCommand(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new Error(`unknown command '${[...words, name].join(" ")}': ${answer}`);
      });
  }
}

/** Adds the options of {@link optionAnswers}, hidden, to their commands and to all commands below them. */
function addOptionsOfOthers(root: Command): void {
  for (const [path, answer] of Object.entries(optionAnswers)) {
    const [, words = "", flags = ""] = /^([^-]+) (--.+)$/.exec(path) ?? [];
    const command = words.split(" ").reduce<Command | undefined>((at, word) => at && found(at, word), root);
    for (const each of command === undefined ? [] : leavesOf(command)) {
      const option = new Option(flags).hideHelp();
      each.addOption(option).on(`option:${option.name()}`, () => {
        throw new Error(`unknown option '${option.long}': ${answer}`);
      });
    }
  }
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function found(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}
