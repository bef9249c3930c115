import { type Command, Option } from "commander";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { onResumeCluster } from "./cluster-commands.ts";
import type { DeleteObjectOptions } from "./delete-object.ts";
import type { ExportOptions } from "./export-objects.ts";
import type { GetOptions } from "./get-objects.ts";
import type { ValuesOptions } from "./get-values.ts";
import { nameOf } from "./objects/read-object.ts";
import type { GlobalOptions, Surroundings } from "./session.ts";

export function addGetCommands(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const get = root.command("get").description("list objects with their revision and readiness");
  const sources = get.command("sources").alias("source").description("list sources");
  const parent = parents(get, sources, "list");
  for (const kind of kinds) addKind(parent(kind), kind, surroundings);
  addAll(get, "objects", kinds, surroundings);
  const among = (isOne: (kind: KindDeclaration) => boolean): readonly KindDeclaration[] => kinds.filter(isOne);
  addAll(
    sources,
    "sources",
    among(({ isSource }) => isSource),
    surroundings,
  );
  const images = among(({ words }) => words.parent === "image");
  const [first] = images;
  if (first !== undefined) addAll(parent(first), "images", images, surroundings);
  addValues(get, surroundings);
}

function addValues(get: Command, surroundings: Surroundings): void {
  const command = get
    .command("values [name]")
    .description("list the values that a HelmRelease gives to its chart, each with where it comes from")
    .option("--no-header", "print no header")
    .addOption(new Option("-o, --output <format>", "do not cut values to the terminal's width").choices(["wide"]));
  command.action(async (name: string | undefined) => {
    if (name === undefined) throw new Error("HelmRelease name is required");
    const [{ getValues }, { withCluster }, { helmModule, wasmHelm }] = await Promise.all([
      import("./get-values.ts"),
      import("./session.ts"),
      import("../lib/engine/wasm-helm.ts"),
    ]);
    const options = command.optsWithGlobals<ValuesOptions & GlobalOptions>();
    const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
    try {
      await withCluster(options, surroundings, (session) => getValues(name, options, session, helm));
    } finally {
      await helm.close();
    }
  });
}

function addAll(parent: Command, what: string, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const command = withGetOptions(parent.command("all").description(`list ${what} of all kinds`));
  command.action(async () => {
    const [{ getAll }, { withCluster }] = await Promise.all([import("./get-all.ts"), import("./session.ts")]);
    const options = command.optsWithGlobals<GetOptions & GlobalOptions>();
    await withCluster(options, surroundings, (session) => getAll(kinds, what, options, session));
  });
}

/** The options of every `get`. */
function withGetOptions(command: Command): Command {
  return command
    .option("-A, --all-namespaces", "list objects of all namespaces")
    .option("--no-header", "print no header")
    .addOption(
      new Option(
        "-o, --output <format>",
        "wide: all columns, and messages that are not cut; json, yaml: the objects; name: their names alone",
      ).choices(["wide", "json", "yaml", "name"]),
    )
    .option("-w, --watch", "keep watching and print changes")
    .option("--status-selector <type=status>", "only objects with this condition, for example ready=false")
    .option("-l, --label-selector <selector>", "only objects with these labels");
}

/** The command that the command of a kind is below, made with the first kind that needs it. */
function parents(root: Command, sources: Command, verb: string): (kind: KindDeclaration) => Command {
  const made = new Map<string, Command>();
  return ({ isSource, words: { parent } }) => {
    if (isSource) return sources;
    if (parent === undefined) return root;
    const { aliases, objects } = parentWords[parent];
    const command = made.get(parent) ?? root.command(parent).aliases(aliases).description(`${verb} ${objects}`);
    made.set(parent, command);
    return command;
  };
}

const parentWords: Readonly<Record<NonNullable<KindDeclaration["words"]["parent"]>, ParentWords>> = {
  artifact: { aliases: ["artifacts"], objects: "what makes artifacts" },
  image: { aliases: ["images"], objects: "objects of image automation" },
};

interface ParentWords {
  readonly aliases: string[];
  /** What its kinds are together. */
  readonly objects: string;
}

function addKind(parent: Command, kind: KindDeclaration, surroundings: Surroundings): void {
  const { one, many, aliases, plural } = kind.words;
  const command = parent
    .command(`${many} [name]`)
    .aliases([...aliases, ...(one === many ? [] : [one])])
    .description(`list ${plural}`);
  if (kind.sourceRefs !== undefined) command.option("--show-source", "show the source of each object");
  withGetOptions(command).action(async (name: string | undefined) => {
    const [{ getObjects }, { withCluster }] = await Promise.all([import("./get-objects.ts"), import("./session.ts")]);
    const options = command.optsWithGlobals<GetOptions & GlobalOptions>();
    await withCluster(options, surroundings, (session) => getObjects(kind, name, options, session));
  });
}

export function addReconcileCommands(
  root: Command,
  kinds: readonly KindDeclaration[],
  surroundings: Surroundings,
): void {
  const reconcile = root.command("reconcile").description("trigger a reconciliation and wait for it to finish");
  const parent = parents(reconcile, reconcile.command("source").description("reconcile a source"), "reconcile");
  for (const kind of kinds) {
    const { kind: name, sourceRefs, words } = kind;
    const { one, many, aliases } = words;
    const command = parent(kind)
      .command(`${one} [name]`)
      .aliases([...aliases, ...(one === many ? [] : [many])])
      .description(`reconcile ${withArticle(kind)}`);
    if (sourceRefs !== undefined) command.option("--with-source", "reconcile its source first");
    if (name === declaredHelmRelease.kind) {
      command
        .option("--force", "install or upgrade once, even if nothing has changed")
        .option("--reset", "reset the failure counts, so that a release without retries left is tried again");
    }
    onReconcile(command, kind, kinds, surroundings);
  }
}

interface ReconcileOptions {
  readonly withSource?: boolean;
  readonly force?: boolean;
  readonly reset?: boolean;
}

function onReconcile(
  command: Command,
  kind: KindDeclaration,
  kinds: readonly KindDeclaration[],
  surroundings: Surroundings,
): void {
  command.action(async (name: string | undefined) => {
    if (name === undefined) throw new Error(`${kind.kind} name is required`);
    const [{ reconcileObject }, { withCluster }] = await Promise.all([
      import("./reconcile-object.ts"),
      import("./session.ts"),
    ]);
    const options = command.optsWithGlobals<GlobalOptions & ReconcileOptions>();
    const { force = false, reset = false, withSource = false } = options;
    const sources = withSource ? { withSource: kinds.filter(({ isSource }) => isSource) } : {};
    const how = { force, reset, ...sources };
    await withCluster(options, surroundings, (session) => reconcileObject(kind, name, how, session));
  });
}

export function addExportCommands(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const exporting = root.command("export").description("print objects as YAML that can be applied");
  const parent = parents(exporting, exporting.command("source").description("print sources"), "print");
  for (const kind of kinds) {
    const { one, many, aliases, plural } = kind.words;
    const command = parent(kind)
      .command(`${one} [name]`)
      .aliases([...aliases, ...(one === many ? [] : [many])])
      .description(`print ${plural} as YAML`)
      .option("--all", "print all objects of the namespace");
    command.action(async (name: string | undefined) => {
      const [{ exportObjects }, { withCluster }] = await Promise.all([
        import("./export-objects.ts"),
        import("./session.ts"),
      ]);
      const options = command.optsWithGlobals<ExportOptions & GlobalOptions>();
      await withCluster(options, surroundings, (session) => exportObjects(kind, name, options, session));
    });
  }
}

export function addDeleteCommands(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const deleting = root.command("delete").description("delete objects");
  const parent = parents(deleting, deleting.command("source").description("delete a source"), "delete");
  for (const kind of kinds) {
    const { one, many, aliases } = kind.words;
    const command = parent(kind)
      .command(`${one} [name]`)
      .aliases([...aliases, ...(one === many ? [] : [many])])
      .description(`delete ${withArticle(kind)}`)
      .option("-s, --silent", "do not ask for confirmation");
    command.action(async (name: string | undefined) => {
      if (name === undefined) throw new Error(`${nameOf(kind)} name is required`);
      const [{ deleteObject }, { withCluster }] = await Promise.all([
        import("./delete-object.ts"),
        import("./session.ts"),
      ]);
      const options = command.optsWithGlobals<DeleteObjectOptions & GlobalOptions>();
      await withCluster(options, surroundings, (session) => deleteObject(kind, name, options, session));
    });
  }
}

function withArticle({ kind }: KindDeclaration): string {
  return `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
}

interface SuspendOptions extends GlobalOptions {
  readonly all?: boolean;
  readonly wait?: boolean;
}

export function addSuspendCommands(root: Command, kinds: readonly KindDeclaration[], surroundings: Surroundings): void {
  const suspend = root.command("suspend").description("stop reconciling until resumed");
  const resume = root
    .command("resume")
    .description("start reconciling suspended objects again; without a kind, resume a paused cluster");
  onResumeCluster(resume, surroundings);
  for (const [verb, what] of [
    [suspend, "suspend"],
    [resume, "resume"],
  ] as const) {
    const parent = parents(verb, verb.command("source").description(`${what} sources`), what);
    for (const kind of kinds) {
      const { one, many, aliases, plural } = kind.words;
      const command = parent(kind)
        .command(`${one} [names...]`)
        .aliases([...aliases, ...(one === many ? [] : [many])])
        .description(`${what} ${plural}`)
        .option("--all", `${what} all objects of the namespace`);
      if (what === "suspend") onSuspend(command, kind, surroundings);
      else onResume(command.option("--wait", "wait for every object, not only for a single one"), kind, surroundings);
    }
  }
}

function onSuspend(command: Command, kind: KindDeclaration, surroundings: Surroundings): void {
  command.action(async (names: readonly string[]) => {
    const [{ suspendObjects }, { withCluster }] = await Promise.all([
      import("./suspend-and-resume.ts"),
      import("./session.ts"),
    ]);
    const options = command.optsWithGlobals<SuspendOptions>();
    await withCluster(options, surroundings, (session) => suspendObjects(kind, names, options.all === true, session));
  });
}

function onResume(command: Command, kind: KindDeclaration, surroundings: Surroundings): void {
  command.action(async (names: readonly string[]) => {
    const [{ resumeObjects }, { withCluster }] = await Promise.all([
      import("./suspend-and-resume.ts"),
      import("./session.ts"),
    ]);
    const options = command.optsWithGlobals<SuspendOptions>();
    const { all = false, wait = false } = options;
    await withCluster(options, surroundings, (session) => resumeObjects(kind, names, { all, wait }, session));
  });
}
