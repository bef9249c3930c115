import type { FileFaults } from "./fault.ts";

/** Mistakes in what makes a text safe to show, and in those who show it. */
export const shownTextFaults: readonly FileFaults[] = [
  {
    file: "lib/core/safe-text.ts",
    tests: ["test/unit/core/safe-text.test.ts"],
    faults: [
      {
        what: "8-bit control characters stay",
        find: "\\u007f-\\u009f",
        replace: "\\u007f",
      },
      { what: "isolated directions stay", find: "\\u2066-\\u2069]/g", replace: "\\u2066]/g" },
      {
        what: "a carriage return alone becomes a line feed",
        find: '.replaceAll("\\r\\n", "\\n")',
        replace: '.replaceAll(/\\r\\n?/g, "\\n")',
      },
      { what: "a key without an end is shown", find: "|-(?!----))+/g", replace: "|-(?!----))+(?=-----END)/g" },
      { what: "a password that Go has hidden is hidden again", find: "(?!xxxxx@)", replace: "" },
      {
        what: "a message may be longer than a condition takes",
        find: "return cutMessage(safeText(cutMessage(text)));",
        replace: "return safeText(cutMessage(text));",
      },
    ],
  },
  {
    file: "lib/flows/conditions.ts",
    tests: ["test/unit/flows/conditions.test.ts"],
    faults: [
      {
        what: "control characters stay in a condition",
        find: "const message = safeMessage(condition.message);",
        replace: "const message = condition.message.slice(0, safeMessage(condition.message).length);",
      },
    ],
  },
  {
    file: "lib/core/event-manifest.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "control characters stay in an event",
        find: "message: safeMessage(event.message),",
        replace: "message: event.message.slice(0, safeMessage(event.message).length),",
      },
      {
        what: "control characters stay in annotations of an event",
        find: "[key, safeText(value)] as const",
        replace: "[key, value.slice(0, safeText(value).length)] as const",
      },
    ],
  },
  {
    file: "lib/sources/git/git-object.ts",
    tests: ["test/unit/sources/git/git-object.test.ts"],
    faults: [
      {
        what: "a subject is cut before its token is hidden",
        find: ".slice(0, readSubjectUnits));",
        replace: ".slice(0, 53));",
      },
    ],
  },
  {
    file: "local/log-lines.ts",
    tests: ["test/unit/local/log-lines.test.ts"],
    faults: [
      {
        what: "control characters stay in a line for people",
        find: "safeText(`${time} ${marks[level]}${message}${fieldsText(fields)}`)",
        replace: "`${time} ${marks[level]}${safeText(message)}${fieldsText(fields)}`",
      },
    ],
  },
];
