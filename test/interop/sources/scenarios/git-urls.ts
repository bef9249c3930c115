import { pem } from "../../../doubles/pem.ts";
import type { Scenario } from "../scenario.ts";
import { main } from "./the-repository.ts";
import { gitRepository, login, secret } from "./written.ts";

const authority = await pem("server.crt");

export const gitUrls: readonly Scenario[] = [
  {
    name: "the URL of a git repository",
    steps: [
      { what: "of a closed port", apply: () => [gitRepository("app", { url: "http://127.0.0.1:1/app.git", ...main })] },
      {
        what: "of nothing",
        apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}/none.git`, ...main })],
      },
      {
        what: "of an unknown host",
        apply: () => [gitRepository("app", { url: "http://nowhere.invalid/app.git", ...main })],
      },
      {
        what: "of a web page",
        change: ({ files: pages }, place) => void pages.set(`/${place}.git/info/refs`, "<html></html>"),
        apply: (hosts, place) => [gitRepository("app", { url: `http://${hosts.http}/${place}.git`, ...main })],
      },
      {
        what: "of TLS that is none",
        apply: (hosts, place) => [gitRepository("app", { url: `https://${hosts.git}/${place}.git`, ...main })],
      },
      {
        what: "of an unknown authority",
        apply: (hosts, place) => [gitRepository("app", { url: `https://${hosts.https}/${place}.git`, ...main })],
      },
      {
        what: "with the authority",
        apply: (hosts, place) => [
          secret("authority", { "ca.crt": authority }),
          gitRepository("app", {
            url: `https://${hosts.https}/${place}.git`,
            ...main,
            secretRef: { name: "authority" },
          }),
        ],
      },
      {
        what: "of ssh without a Secret",
        apply: () => [gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main })],
      },
      {
        what: "of ssh with a login",
        apply: () => [
          login("login"),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "login" } }),
        ],
      },
      {
        what: "of ssh with only a key",
        apply: () => [
          secret("k1", { identity: "x" }),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "k1" } }),
        ],
      },
      {
        what: "of ssh with a key that is none",
        apply: () => [
          secret("k2", { identity: "x", known_hosts: "y" }),
          gitRepository("app", { url: "ssh://git@127.0.0.1:1/app.git", ...main, secretRef: { name: "k2" } }),
        ],
      },
      { what: "without a path", apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}`, ...main })] },
      {
        what: "with a bad escape",
        apply: (hosts) => [gitRepository("app", { url: `http://${hosts.git}/%zz`, ...main })],
      },
      { what: "like scp", apply: () => [gitRepository("app", { url: "git@127.0.0.1:app.git", ...main })] },
      { what: "without a host", apply: () => [gitRepository("app", { url: "http://", ...main })] },
    ],
  },
];
