import type { FileFaults } from "./fault.ts";

const message = ["test/unit/image/commit-message.test.ts"];

export const commitMessageFaults: readonly FileFaults[] = [
  {
    file: "lib/image/commit-message.ts",
    tests: message,
    faults: [
      {
        what: "an empty template makes an empty message",
        find: 'template === undefined || template === ""',
        replace: "template === undefined",
      },
      {
        what: "a template with a removed field is retried forever",
        find: 'if (error.reason === "removedField") throw new Failure("RemovedTemplateField", error.message, { cause: error });\n',
        replace: "",
      },
      {
        what: "an engine starts for a plain text",
        find: '  if (!template.includes("{{")) return template;\n',
        replace: "",
      },
      {
        what: "a template may be of any size",
        find: "bytes > maxTemplateBytes",
        replace: "bytes > 2 * maxTemplateBytes",
      },
    ],
  },
  {
    file: "lib/engine/wasm-helm.ts",
    tests: message,
    faults: [
      {
        what: "a template that uses all memory counts as invalid",
        find: 'return new MessageEngineError("memory", why',
        replace: 'return new MessageEngineError("broken", why',
      },
    ],
  },
];
