import type { FileFaults } from "./fault.ts";

const folder = "lib/image/pull-request";
const ensure = [`test/unit/image/pull-request/ensure-pull-request.test.ts`];

export const pullRequestFaults: readonly FileFaults[] = [
  {
    file: `${folder}/ensure-pull-request.ts`,
    tests: ensure,
    faults: [
      {
        what: "the pull request of a user is overwritten",
        find: "const isOurs = open.body.includes(marker);",
        replace: "const isOurs = true;",
      },
      {
        what: "a text is sent again and again because of a browser's line breaks",
        find: 'text.replaceAll("\\r\\n", "\\n").trim()',
        replace: "text.trim()",
      },
      {
        what: "a token is shown",
        find: "maskSecrets(messageOf(error), { manifests: [], secrets: secretsOf(settings) })",
        replace: "maskSecrets(messageOf(error), { manifests: [], secrets: [settings.password] })",
      },
      {
        what: "a pull request that another run has opened is a failure",
        find: "if (now === undefined) throw error;",
        replace: "if (now?.title !== text.title) throw error;",
      },
    ],
  },
  {
    file: `${folder}/github-requests.ts`,
    tests: ensure,
    faults: [
      {
        what: "the branch of a fork is taken for ours",
        find: " && each.head.repo?.id === each.base.repo?.id",
        replace: "",
      },
    ],
  },
  {
    file: `${folder}/login.ts`,
    tests: ensure,
    faults: [
      {
        what: "the password of a key is sent to the host",
        find: 'data.has("identity") ? "" : ',
        replace: "",
      },
    ],
  },
  {
    file: `${folder}/find-host.ts`,
    tests: ensure,
    faults: [
      {
        what: "the API is asked on the port of ssh",
        find: "webHosts[hostname] ?? hostname",
        replace: "webHosts[hostname] ?? new URL(address).host",
      },
    ],
  },
];
