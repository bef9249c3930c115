import { maxQueryBytes } from "../metric-servers.ts";
import { MetricFault } from "./providers/metric-server.ts";
import type { QueryModel } from "./query-model.ts";

/** A text of the template, or an action whose value is found when the template is rendered. */
type Piece = string | Action;

interface Action {
  /** A function of the model, or empty for the data that a template of Flagger has not. */
  readonly name: string;
  /** The fields that are read of its value. */
  readonly fields: readonly string[];
  /** `line:byte`, as Go counts them. */
  readonly position: string;
}

/** Functions and words of Go's templates that are not for a query alone. */
export const goWords = new Set(
  "and block break call continue define else end eq false ge gt html if index js le len lt ne nil not or print printf println range slice template true urlquery with".split(
    " ",
  ),
);

/**
 * A template of a query with its functions filled in (reference canary 11.3). It supports names, `variables.key`, comments and trimmed
 * white space of Go's templates; `other` renders templates with more.
 *
 * Throws a {@link MetricFault} in Go's words for an unreadable template and for an unknown variable.
 */
export async function renderQuery(
  template: string,
  model: QueryModel,
  other: (template: string) => Promise<string>,
): Promise<string> {
  const pieces = piecesOf(template);
  const text = pieces === undefined ? await other(template) : rendered(pieces, model);
  if (Buffer.byteLength(text) > maxQueryBytes) {
    throw new MetricFault(`the query is longer than ${maxQueryBytes} bytes`);
  }
  return text;
}

function rendered(pieces: readonly Piece[], model: QueryModel): string {
  let text = "";
  for (const piece of pieces) {
    text += typeof piece === "string" ? piece : valueOf(piece, model);
    // A variable may be long and be there often.
    if (text.length > maxQueryBytes) break;
  }
  return text;
}

function valueOf(action: Action, model: QueryModel): string {
  const { name, fields } = action;
  const [first, second] = fields;
  if (!isFunction(name)) throw failed(action, `nil data; no entry for key ${JSON.stringify(first ?? "")}`);
  if (name !== "variables") {
    if (first === undefined) return model[name];
    throw failed(action, `can't evaluate field ${first} in type string`);
  }
  const { variables } = model;
  if (first === undefined) return mapText(variables);
  const value = Object.hasOwn(variables, first) ? variables[first] : undefined;
  if (value === undefined) throw failed(action, `map has no entry for key ${JSON.stringify(first)}`);
  if (second !== undefined) throw failed(action, `can't evaluate field ${second} in type string`);
  return value;
}

function failed({ name, fields, position }: Action, why: string): MetricFault {
  const shown = name === "" ? `.${fields.join(".")}` : name;
  return new MetricFault(
    `template excution failed: template: tmpl:${position}: executing "tmpl" at <${shown}>: ${why}`,
  );
}

/** A map as Go prints it. */
function mapText(map: Readonly<Record<string, string>>): string {
  const entries = Object.entries(map).toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `map[${entries.map(([key, value]) => `${key}:${value}`).join(" ")}]`;
}

const functions = ["name", "namespace", "target", "service", "ingress", "route", "interval", "variables"] as const;

function isFunction(name: string): name is (typeof functions)[number] {
  return functions.some((each) => each === name);
}

/** The pieces of a template; undefined if it has what only Go's own engine can do. */
function piecesOf(template: string): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  let isTrimmed = false;
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf("{{", at);
    const text = template.slice(at, open === -1 ? undefined : open);
    const left = isTrimmed ? text.trimStart() : text;
    if (open === -1) {
      pieces.push(left);
      break;
    }
    const trimsBefore = /^-\s/.test(template.slice(open + 2, open + 4));
    pieces.push(trimsBefore ? left.trimEnd() : left);
    const begin = open + (trimsBefore ? 3 : 2);
    const close = endOfAction(template, begin);
    if (close === -1) throw unparsed(template, open, "unclosed action");
    const inner = template.slice(begin, close);
    isTrimmed = /\s-$/.test(inner);
    const body = isTrimmed ? inner.slice(0, -1) : inner;
    at = close + 2;
    if (/^\s*\/\*/.test(body)) continue;
    const action = actionOf(template, begin, body);
    if (action === undefined) return undefined;
    pieces.push(action);
  }
  return pieces;
}

function endOfAction(template: string, begin: number): number {
  const isComment = /^\s*\/\*/.test(template.slice(begin, begin + 16));
  const from = isComment ? template.indexOf("*/", begin) : begin;
  return from === -1 ? -1 : template.indexOf("}}", from);
}

/** A name with fields; undefined for anything else that Go's own engine may know. */
function actionOf(template: string, begin: number, body: string): Action | undefined {
  if (body.trim() === "") throw unparsed(template, begin, "missing value for command");
  const [, space = "", name = "", path = ""] = /^(\s*)([A-Za-z_]\w*)?((?:\.[A-Za-z_]\w*)*)\s*$/.exec(body) ?? [];
  if ((name === "" && path === "") || goWords.has(name)) return undefined;
  const at = begin + space.length;
  if (name !== "" && !isFunction(name)) throw unparsed(template, at, `function ${JSON.stringify(name)} not defined`);
  return { name, fields: path.split(".").slice(1), position: positionOf(template, at) };
}

function unparsed(template: string, at: number, why: string): MetricFault {
  return new MetricFault(`template parsing failed: template: tmpl:${lineOf(template, at)}: ${why}`);
}

function lineOf(template: string, at: number): number {
  return template.slice(0, at).split("\n").length;
}

function positionOf(template: string, at: number): string {
  const start = template.lastIndexOf("\n", at - 1) + 1;
  return `${lineOf(template, at)}:${Buffer.byteLength(template.slice(start, at))}`;
}
