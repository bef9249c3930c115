import { MessageEngineError } from "../../core/ports/message-engine.ts";
import type { TemplateEngine } from "../metric-servers.ts";
import { MetricFault } from "./providers/metric-server.ts";
import type { QueryModel } from "./query-model.ts";
import { goWords } from "./query-template.ts";

/** The longest template that Go's engine is given. */
export const maxQueryTemplateBytes = 16_384;

/**
 * Renders a template of a query by Go's own engine. That has data in place of functions, so each function of the model is written as the
 * field of the data that has its value: `{{ if target }}` as `{{ if $.Values.target }}`. Constructs that Flagger's templates do not have
 * (fields of the data, functions of Flux) are refused.
 *
 * Throws a {@link MetricFault} in Go's words, with positions in the template that Go gets.
 */
export async function renderByGo(
  template: string,
  model: QueryModel,
  engine: TemplateEngine | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (engine === undefined || Buffer.byteLength(template) > maxQueryTemplateBytes) {
    const most = engine === undefined ? "" : ` in a template of more than ${maxQueryTemplateBytes} bytes`;
    throw new MetricFault(
      `template parsing failed: only names such as {{ target }} and variables such as {{ variables.key }} can be used here${most}`,
    );
  }
  const { namespace, name } = model;
  try {
    return await engine({ namespace, name, template: withData(template, model), values: valuesOf(model) }, signal);
  } catch (error) {
    if (!(error instanceof MessageEngineError)) throw error;
    throw new MetricFault(flaggersWords(error.message), { cause: error });
  }
}

const functions = new Set(["name", "namespace", "target", "service", "ingress", "route", "interval"]);

/** A map's keys are any text, so a variable cannot be taken for a function. */
function valuesOf({ variables, ...model }: QueryModel): Readonly<Record<string, string>> {
  const named = Object.entries(variables).map(([key, value]) => [`variables.${key}`, value] as const);
  return { ...model, ...Object.fromEntries(named) };
}

/** The parts of an action in which names are searched: not in quoted texts and comments. */
const pieces =
  /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'|\/\*[^]*?\*\/|variables(?:\.(\w+))?(?![\w.])|(?<![\w.$])[A-Za-z_]\w*|\$\w*|(?<![\w)])\.[A-Za-z_]\w*/g;

/** An action ends at the first }} outside of quotes and comments. A quote without an end does not count: Go refuses it. */
const actions =
  /\{\{((?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'|\/\*[^]*?\*\/|\/(?!\*)|\}(?!\})|[^"`'/}])*)\}\}/g;

function withData(template: string, model: QueryModel): string {
  return template.replaceAll(
    actions,
    (_action, body: string) => `{{${body.replaceAll(pieces, (piece, key?: string) => dataOf(piece, key, model))}}}`,
  );
}

function dataOf(piece: string, key: string | undefined, { variables }: QueryModel): string {
  if (/^["`'/]/.test(piece)) return piece;
  if (key !== undefined) {
    if (Object.hasOwn(variables, key)) return `(index $.Values ${JSON.stringify(`variables.${key}`)})`;
    throw failed(`executing "tmpl" at <variables>: map has no entry for key ${JSON.stringify(key)}`);
  }
  if (piece.startsWith(".")) throw failed(`nil data; no entry for key ${JSON.stringify(piece.slice(1))}`);
  if (piece === "$" || piece === "variables") {
    throw new MetricFault(`template parsing failed: ${piece} can be used here only with a key, as {{ variables.key }}`);
  }
  if (piece.startsWith("$") || goWords.has(piece)) return piece;
  if (functions.has(piece)) return `$.Values.${piece}`;
  throw new MetricFault(`template parsing failed: template: tmpl: function ${JSON.stringify(piece)} not defined`);
}

function failed(why: string): MetricFault {
  return new MetricFault(`template excution failed: template: tmpl: ${why}`);
}

function flaggersWords(said: string): string {
  return said
    .replace("unable to create commit message template from spec: ", "template parsing failed: ")
    .replace("failed to run template from spec: ", "template excution failed: ")
    .replaceAll("template: commit message:", "template: tmpl:")
    .replaceAll('executing "commit message"', 'executing "tmpl"');
}
