import { publish } from "../charts.ts";
import type { Scenario, Step } from "../scenario.ts";
import type { Answer } from "../source-hosts.ts";
import { helmRepository } from "./written.ts";

const app = { name: "app", version: "1.0.0" };
/** An index that is wrong in one way, each. */
const indexes: Readonly<Record<string, string>> = {
  "is empty": "",
  "is only a comment": "# nothing\n",
  "has no apiVersion": "entries: {}\n",
  "has no entries": "apiVersion: v1\n",
  "has entries null": "apiVersion: v1\nentries:\n",
  "has entries that are a list": "apiVersion: v1\nentries: []\n",
  "has empty entries": "apiVersion: v1\nentries: {}\n",
  "is a list": "- a\n- b\n",
  "is a text": "hello\n",
  "is a web page": "<!doctype html>\n<html><body>not here</body></html>\n",
  "is JSON":
    '{"apiVersion":"v1","entries":{"app":[{"apiVersion":"v2","name":"app","version":"1.0.0","urls":["app-1.0.0.tgz"]}]}}',
  "is JSON that is cut off": '{"apiVersion":"v1","entries":{"app":[',
  "has a key twice": "apiVersion: v1\nentries: {}\nentries: {}\n",
  "has an unknown key": "apiVersion: v1\nsomething: else\nentries: {}\n",
  "has tabs": "apiVersion: v1\nentries:\n\tapp: []\n",
  "has a version that is none":
    "apiVersion: v1\nentries:\n  app:\n  - name: app\n    version: one\n    urls: [app.tgz]\n  - name: app\n    version: 1.0.0\n    urls: [app-1.0.0.tgz]\n",
  "has an entry without a name": "apiVersion: v1\nentries:\n  app:\n  - version: 1.0.0\n    urls: [app-1.0.0.tgz]\n",
  "has an entry without urls": "apiVersion: v1\nentries:\n  app:\n  - name: app\n    version: 1.0.0\n",
  "has a version that is a number":
    "apiVersion: v1\nentries:\n  app:\n  - name: app\n    version: 1.0\n    urls: [app-1.0.0.tgz]\n",
  "has another generated time": "apiVersion: v1\ngenerated: 2026-01-01T00:00:00Z\nentries: {}\n",
  "has a generated time that is none": "apiVersion: v1\ngenerated: yesterday\nentries: {}\n",
  "has an alias":
    "apiVersion: v1\nentries:\n  app: &app\n  - name: app\n    version: 1.0.0\n    urls: [app-1.0.0.tgz]\n  other: *app\n",
  "has two documents": "apiVersion: v1\nentries: {}\n---\napiVersion: v1\nentries: {}\n",
  "has bytes that are no text": "apiVersion: v1\nentries: {}\nx: \u0000\n",
};

const right: Step = {
  what: "a right one",
  change: (hosts, place) => publish(hosts, place, [app]),
  apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}` })],
};

const answering = (what: string, answer: (http: string, place: string) => Answer): Step => ({
  what,
  change: ({ files, http }, place) => void files.set(`/${place}/index.yaml`, answer(http, place)),
});

const movedTo =
  (location: string): Answer =>
  (_, response) =>
    void response.writeHead(302, { location }).end();

export const helmIndexes: readonly Scenario[] = [
  {
    name: "an index that is wrong",
    steps: [right, ...Object.entries(indexes).map(([what, text]) => answering(`that ${what}`, () => text))],
  },
  {
    name: "the answers of a server",
    steps: [
      right,
      ...[301, 400, 403, 410, 429, 500, 503].map((status) =>
        answering(String(status), () => (_, response) => void response.writeHead(status).end()),
      ),
      {
        what: "a redirect",
        change: async (hosts, place) => {
          await publish(hosts, `${place}-moved`, [app]);
          hosts.files.set(`/${place}/index.yaml`, movedTo(`http://${hosts.http}/${place}-moved/index.yaml`));
        },
      },
      answering("a redirect that never ends", (http, place) => movedTo(`http://${http}/${place}/index.yaml`)),
      {
        ...answering("an answer that never comes", () => () => undefined),
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, timeout: "2s" })],
      },
    ],
  },
];
