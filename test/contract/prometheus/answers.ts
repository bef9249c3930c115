import { expect } from "vitest";
import { type ScriptedAnswer, vector } from "../../unit/canary/metrics/metric-world.ts";

/** A query, the answer that our stand-ins of Prometheus give to it, and what Sluice makes of it: a value, or why there is none. */
export interface Answered {
  readonly what: string;
  readonly query: string;
  readonly answer: ScriptedAnswer;
  readonly value: unknown;
}

const labelled = (value: number, label: string): string => `label_replace(vector(${value}), "a", "${label}", "", "")`;
const two = `(${labelled(1, "x")} or ${labelled(2, "y")})`;
const data = (resultType: string, result: unknown): ScriptedAnswer => ({
  body: JSON.stringify({ status: "success", data: { resultType, result } }),
});
const fault = (status: number, errorType: string, error: string): ScriptedAnswer => ({
  status,
  body: JSON.stringify({ status: "error", errorType, error }),
});
const none = "no values found";

/** What Prometheus answers by its API alone, whatever it has scraped. */
export const answered: readonly Answered[] = [
  { what: "one series", query: "vector(1.5)", answer: vector("1.5"), value: 1.5 },
  { what: "several series: the last one counts", query: two, answer: vector("1", "2"), value: 2 },
  { what: "no series", query: "absent(vector(1))", answer: vector(), value: none },
  { what: "0 / 0", query: "vector(0) / 0", answer: vector("NaN"), value: none },
  { what: "1 / 0", query: "vector(1) / 0", answer: vector("+Inf"), value: Number.POSITIVE_INFINITY },
  { what: "-1 / 0", query: "vector(-1) / 0", answer: vector("-Inf"), value: Number.NEGATIVE_INFINITY },
  { what: "a very small number", query: "vector(1e-300)", answer: vector("1e-300"), value: 1e-300 },
  {
    what: "a scalar",
    query: "1",
    answer: data("scalar", [1, "1"]),
    value: expect.stringMatching(/^error unmarshaling result: /),
  },
  {
    what: "a text",
    query: '"1"',
    answer: data("string", [1, "1"]),
    value: expect.stringMatching(/^error unmarshaling result: /),
  },
  {
    what: "a range",
    query: "vector(1)[1s:1s]",
    answer: data("matrix", [{ metric: {}, values: [[1, "1"]] }]),
    value: "query returned multiple values",
  },
  {
    what: "a query that cannot be parsed",
    query: "sum(",
    answer: fault(400, "bad_data", 'invalid parameter "query": 1:5: parse error: unclosed left parenthesis'),
    value: expect.stringMatching(/^error response: Status 400 Bad Request: .*unclosed left parenthesis/),
  },
  {
    what: "a query that cannot be computed",
    query: `${two} * on() ${two}`,
    answer: fault(422, "execution", "found duplicate series"),
    value: expect.stringMatching(/^error response: Status 422 Unprocessable Entity: .*found duplicate series/),
  },
];
