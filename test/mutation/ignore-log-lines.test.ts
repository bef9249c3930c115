import { expect, test } from "vitest";
import { type Syntax, strykerPlugins } from "./ignore-log-lines.ts";

const [plugin] = strykerPlugins;
const identifier = (name: string) => ({ type: "Identifier", name });
const call = (receiver: Syntax, method: string) => ({
  type: "CallExpression",
  callee: { type: "MemberExpression", object: receiver, property: identifier(method) },
});
const logged = call(identifier("log"), "warn");
const statement = { type: "ExpressionStatement", expression: logged };
const other = { type: "ExpressionStatement", expression: call(identifier("queue"), "send") };
const ofDeps = call({ type: "MemberExpression", object: identifier("deps"), property: identifier("log") }, "error");

test.each([
  { name: "a call of log", node: logged, ignored: true },
  { name: "a call of deps.log", node: ofDeps, ignored: true },
  { name: "its statement", node: statement, ignored: true },
  { name: "a block with only log calls", node: { type: "BlockStatement", body: [statement] }, ignored: true },
  { name: "the condition of a log line", node: { type: "IfStatement", consequent: statement }, ignored: true },
  { name: "a block with more in it", node: { type: "BlockStatement", body: [statement, other] }, ignored: false },
  { name: "an empty block", node: { type: "BlockStatement", body: [] }, ignored: false },
  {
    name: "a condition with another statement in its else",
    node: { type: "IfStatement", consequent: statement, alternate: other },
    ignored: false,
  },
  { name: "another call of log", node: call(identifier("log"), "child"), ignored: false },
  { name: "a call of something else", node: call(identifier("queue"), "info"), ignored: false },
  { name: "a call of a function", node: { type: "CallExpression", callee: identifier("warn") }, ignored: false },
])("$name is left out of the score: $ignored", ({ node, ignored }) => {
  expect(plugin?.value.shouldIgnore({ node }) !== undefined).toBe(ignored);
});
