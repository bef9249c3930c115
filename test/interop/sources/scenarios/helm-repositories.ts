import { pem } from "../../../doubles/pem.ts";
import { publish } from "../charts.ts";
import type { Scenario } from "../play-both.ts";
import { dockerConfig, helmRepository, login, secret } from "./written.ts";

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

export const helmRepositories: readonly Scenario[] = [
  {
    name: "an index that is wrong",
    steps: Object.entries(indexes).map(([what, text], at) => ({
      what: `that ${what}`,
      change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, text),
      ...(at === 0 && { apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}` })] }),
    })),
  },
  {
    name: "the answers of a server",
    steps: [
      ...[301, 400, 403, 410, 429, 500, 503].map((status, at) => ({
        what: String(status),
        change: ({ files }: { files: Map<string, unknown> }, ns: string) =>
          void files.set(`/${ns}/index.yaml`, (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
            response.writeHead(status).end(),
          ),
        ...(at === 0 && {
          apply: ({ http }: { http: string }, ns: string) => [helmRepository("app", { url: `http://${http}/${ns}/` })],
        }),
      })),
      {
        what: "a redirect",
        change: async (hosts, ns) => {
          await publish(hosts, `${ns}-moved`, [app]);
          hosts.files.set(
            `/${ns}/index.yaml`,
            (_, response) =>
              void response.writeHead(302, { location: `http://${hosts.http}/${ns}-moved/index.yaml` }).end(),
          );
        },
      },
      {
        what: "a redirect that never ends",
        change: (hosts, ns) =>
          void hosts.files.set(
            `/${ns}/index.yaml`,
            (_, response) => void response.writeHead(302, { location: `http://${hosts.http}/${ns}/index.yaml` }).end(),
          ),
      },
      {
        what: "an answer that never comes",
        change: ({ files }, ns) => void files.set(`/${ns}/index.yaml`, () => undefined),
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}/`, timeout: "2s" })],
      },
    ],
  },
  {
    name: "the URL of a repository",
    steps: [
      {
        what: "with a query",
        change: (hosts, ns) => publish(hosts, ns, [app]),
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}?a=b` })],
      },
      { what: "with a login", apply: ({ http }, ns) => [helmRepository("app", { url: `http://u:p@${http}/${ns}` })] },
      { what: "with slashes", apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}///` })] },
      {
        what: "with a fragment",
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}#here` })],
      },
      { what: "without a host", apply: () => [helmRepository("app", { url: "http://" })] },
      { what: "with a bad escape", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/%zz` })] },
      { what: "with a space", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/a b` })] },
      { what: "of a closed port", apply: () => [helmRepository("app", { url: "http://127.0.0.1:1/charts" })] },
      { what: "of an unknown host", apply: () => [helmRepository("app", { url: "http://nowhere.invalid/charts" })] },
      {
        what: "of oci with type default",
        apply: () => [helmRepository("app", { url: "oci://127.0.0.1:1/charts", type: "default" })],
      },
      { what: "of TLS", apply: ({ https }, ns) => [helmRepository("app", { url: `https://${https}/${ns}` })] },
      {
        what: "of plain HTTP as TLS",
        apply: ({ http }, ns) => [helmRepository("app", { url: `https://${http}/${ns}` })],
      },
      {
        what: "of TLS as plain HTTP",
        apply: ({ https }, ns) => [helmRepository("app", { url: `http://${https}/${ns}` })],
      },
      {
        what: "that is right again",
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}` })],
      },
      { what: "of another scheme", apply: () => [helmRepository("app", { url: "ftp://127.0.0.1/charts" })] },
    ],
  },
  {
    name: "the login of a repository",
    steps: [
      {
        what: "without a Secret",
        change: (hosts, ns) => publish(hosts, `closed/${ns}`, [app]),
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/closed/${ns}` })],
      },
      ...[
        { what: "with a missing Secret", of: [] },
        { what: "with an empty Secret", of: [secret("login", {})] },
        { what: "with only a username", of: [secret("login", { username: "golden" })] },
        { what: "with only a password", of: [secret("login", { password: "golden-password" })] },
        { what: "with an empty password", of: [secret("login", { username: "golden", password: "" })] },
        { what: "with a wrong password", of: [secret("login", { username: "golden", password: "wrong" })] },
        { what: "with a token", of: [secret("login", { bearerToken: "token" })] },
        { what: "with a certificate without its key", of: [secret("login", { "tls.crt": "x" })] },
        { what: "with an authority that is none", of: [secret("login", { "ca.crt": "x" })] },
        { what: "with an old authority that is none", of: [secret("login", { caFile: "x" })] },
        { what: "with a line feed", of: [secret("login", { username: "golden", password: "golden-password\n" })] },
        { what: "with other keys", of: [secret("login", { user: "golden", pass: "golden-password" })] },
        { what: "with the right one", of: [login("login")] },
      ].map(({ what, of }) => ({
        what,
        apply: ({ http }: { http: string }, ns: string) => [
          secret("unused", {}),
          ...of,
          helmRepository("app", {
            url: `http://${http}/closed/${ns}`,
            secretRef: { name: what.includes("missing") ? "none" : "login" },
          }),
        ],
      })),
      {
        what: "of type dockerconfigjson",
        apply: ({ http }, ns) => [
          dockerConfig("docker", http),
          helmRepository("app", { url: `http://${http}/closed/${ns}`, secretRef: { name: "docker" } }),
        ],
      },
    ],
  },
  {
    name: "the certificates of a repository",
    steps: [
      {
        what: "of an unknown authority",
        change: (hosts, ns) => publish(hosts, ns, [app]),
        apply: ({ https }, ns) => [helmRepository("app", { url: `https://${https}/${ns}` })],
      },
      ...(
        [
          ["of a missing Secret", {}],
          ["of an empty Secret", {}],
          ["with another authority", { "ca.crt": "amazon.crt" }],
          ["with the old key of the authority", { caFile: "server.crt" }],
          ["with text in place of the authority", { "ca.crt": "" }],
          ["with a certificate without its key", { "tls.crt": "client.crt" }],
          ["with a key without its certificate", { "tls.key": "client.key" }],
          ["with a key of another certificate", { "tls.crt": "client.crt", "tls.key": "server.key" }],
          ["with the authority", { "ca.crt": "server.crt" }],
        ] as const
      ).map(([what, files], at) => ({
        what,
        ...certificates(`c${at}`, what, files),
      })),
    ],
  },
  {
    name: "type oci and back, suspended and resumed, deleted",
    steps: [
      {
        what: "type oci",
        change: (hosts, ns) => publish(hosts, ns, [app]),
        apply: ({ registry }) => [helmRepository("app", { url: `oci://${registry}/charts`, type: "oci" })],
      },
      {
        what: "type oci, insecure and a missing Secret",
        apply: ({ registry }) => [
          helmRepository("app", {
            url: `oci://${registry}/charts`,
            type: "oci",
            insecure: true,
            secretRef: { name: "none" },
          }),
        ],
      },
      {
        what: "type oci with an http URL",
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}`, type: "oci" })],
      },
      { what: "no type", apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}` })] },
      {
        what: "suspended",
        apply: ({ http }, ns) => [helmRepository("app", { url: `http://${http}/${ns}`, suspend: true })],
      },
      {
        what: "suspended, to another URL",
        apply: ({ http }) => [helmRepository("app", { url: `http://${http}/none`, suspend: true })],
      },
      { what: "resumed", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/none` })] },
      {
        what: "to oci while failing",
        apply: ({ registry }) => [helmRepository("app", { url: `oci://${registry}/charts`, type: "oci" })],
      },
      {
        what: "created suspended",
        apply: ({ http }, ns) => [helmRepository("two", { url: `http://${http}/${ns}`, suspend: true })],
      },
      {
        what: "suspended to oci",
        apply: ({ registry }) => [
          helmRepository("two", { url: `oci://${registry}/charts`, type: "oci", suspend: true }),
        ],
      },
      {
        what: "provider aws without oci",
        apply: ({ http }, ns) => [helmRepository("three", { url: `http://${http}/${ns}`, provider: "aws" })],
      },
      {
        what: "insecure without oci",
        apply: ({ http }, ns) => [helmRepository("three", { url: `http://${http}/${ns}`, insecure: true })],
      },
      {
        what: "passCredentials",
        apply: ({ http }, ns) => [helmRepository("three", { url: `http://${http}/${ns}`, passCredentials: true })],
      },
      {
        what: "accessFrom",
        apply: ({ http }, ns) => [
          helmRepository("three", { url: `http://${http}/${ns}`, accessFrom: { namespaceSelectors: [] } }),
        ],
      },
      { what: "deleted", remove: ["HelmRepository/three", "HelmRepository/two"] },
    ],
  },
];

function certificates(name: string, what: string, files: Readonly<Record<string, string>>) {
  let data: Record<string, string> = {};
  return {
    change: async () => {
      const read = async ([key, file]: readonly [string, string]) =>
        [key, file === "" ? "text" : await pem(file)] as const;
      data = Object.fromEntries(await Promise.all(Object.entries(files).map(read)));
    },
    apply: ({ https }: { https: string }, ns: string) => [
      ...(what.includes("missing") ? [] : [secret(name, data)]),
      helmRepository("app", { url: `https://${https}/${ns}`, certSecretRef: { name } }),
    ],
  };
}
