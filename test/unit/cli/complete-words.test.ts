import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { complete } from "../../../cli/complete-words.ts";
import { completionScripts } from "../../../cli/completion-scripts.ts";
import { program } from "../../../cli/program.ts";
import { declaredKinds, readByCanaries } from "../../../lib/api/kinds/declared-kinds.ts";
import { fakeSession } from "./fake-session.ts";

const kinds = [...declaredKinds, ...readByCanaries];
const root = program(
  {
    terminal: fakeSession([]).terminal,
    env: {},
    homeDir: "/nowhere",
    cwd: "/nowhere",
    stdin: Readable.from([]),
    signal: new AbortController().signal,
    onSignal: () => {},
    exit: () => {
      throw new Error("exit");
    },
  },
  declaredKinds,
);

/** What is offered for the last word of a line after `sluice`: words, `files`, or the kind whose names are asked for. */
function offered(line: string): readonly string[] | string {
  const completion = complete(root, line.split(" "), kinds);
  if (completion.kind === "words") return completion.words.map(({ word }) => word);
  return completion.kind === "files" ? "files" : completion.of.kind;
}

describe("completing a line", () => {
  test.each([
    ["boo", ["bootstrap"]],
    ["get ku", ["kustomizations"]],
    ["-n apps get ku", ["kustomizations"]],
    ["--namespace=apps get ku", ["kustomizations"]],
    ["reconcile ima", ["image"]],
    ["get images p", ["policy"]],
    ["nonsense ", []],
  ])("%j offers the commands %j", (line, commands) => {
    expect(offered(line)).toEqual(commands);
  });

  test("hides the commands that the help hides", () => {
    expect(offered("__")).toEqual([]);
    expect(offered("bootstrap bit")).toEqual([]);
  });

  test("offers the options of the command and those of all commands", () => {
    expect(offered("get kustomizations --n")).toEqual(["--no-header", "--namespace", "--ns-follows-kube-context"]);
  });

  test.each([
    ["get kustomizations -o ", ["wide", "json", "yaml", "name"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["get kustomizations --status-selector ", []],
  ])("%j offers the values that are possible: %j", (line, values) => {
    expect(offered(line)).toEqual(values);
  });

  test.each(["push artifact oci://host/app --path ", "--kubeconfig ", "init ", "diff helmrelease web --chart "])(
    "%j leaves files to the shell",
    (line) => {
      expect(offered(line)).toBe("files");
    },
  );

  test.each([
    ["get ks ", "Kustomization"],
    ["get sources oci ", "OCIRepository"],
    ["get source git ", "GitRepository"],
    ["get images repository ", "ImageRepository"],
    ["suspend kustomization a b ", "Kustomization"],
    ["get values ", "HelmRelease"],
    ["diff hr ", "HelmRelease"],
    ["rollback canary ", "Canary"],
    ["why image ", "ImagePolicy"],
    ["notify test ", "Provider"],
  ])("%j asks for the names of the objects of kind %s", (line, kind) => {
    expect(offered(line)).toBe(kind);
  });

  test("asks for no names where a new one is given, or enough are there", () => {
    expect(offered("create kustomization ")).toEqual([]);
    expect(offered("get kustomizations app ")).toEqual([]);
  });

  test("asks for names where the line so far says", () => {
    const completion = complete(root, ["-n", "apps", "get", "ks", "--context=prod", ""], kinds);
    const line = completion.kind === "objects" ? completion.line : new Map();
    expect([...line]).toEqual([
      ["--namespace", "apps"],
      ["--context", "prod"],
    ]);
  });
});

describe("completing a line that bash has split at = and :", () => {
  test.each([
    ["--namespace = apps get ku", ["kustomizations"]],
    ["get kustomizations --output = ", ["wide", "json", "yaml", "name"]],
    ["get kustomizations --output =", ["wide", "json", "yaml", "name"]],
    ["get kustomizations --output = w", ["wide"]],
    ["push artifact oci : //host/app : v1 --path = ", "files"],
    ["push artifact oci : //host/app --annotations a = b --path =", "files"],
  ])("%j offers %j", (line, words) => {
    expect(offered(line)).toEqual(words);
  });

  test.each(["--context = arn : aws : eks :: 1 : cluster/a=b", "--context arn : aws : eks :: 1 : cluster/a = b"])(
    "%j chooses the complete context",
    (option) => {
      const completion = complete(root, [...option.split(" "), "get", "ks", ""], kinds);
      const line = completion.kind === "objects" ? completion.line : new Map();
      expect([...line]).toEqual([["--context", "arn:aws:eks::1:cluster/a=b"]]);
    },
  );
});

test.each(Object.entries(completionScripts))(
  "the script for %s asks the hidden command for the words so far",
  (_, script) => {
    expect(script).toMatch(/sluice __complete -- \S+.* 2>\/dev\/null\)/);
  },
);
