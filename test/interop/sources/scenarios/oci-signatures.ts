import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { signSimply } from "../../../doubles/cosign-signatures.ts";
import { pem } from "../../../doubles/pem.ts";
import { clientOf, fluxLayer, push } from "../images.ts";
import type { Scenario } from "../scenario.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { at, files } from "./the-image.ts";
import { secret, secretSteps } from "./written.ts";

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const others = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pub = ({ publicKey }: { publicKey: KeyObject }) => String(publicKey.export({ type: "spki", format: "pem" }));
const authority = await pem("server.crt");

async function pushSigned({ registry }: SourceHosts, place: string): Promise<void> {
  const of = { client: clientOf(registry), repository: place };
  const signed = await push(registry, place, "signed", { layers: [await fluxLayer(files)] });
  await signSimply({ ...of, digest: signed }, keys.privateKey);
  const twice = await push(registry, place, "twice", { layers: [await fluxLayer({ twice: "x" })] });
  await signSimply({ ...of, digest: twice }, others.privateKey, keys.privateKey);
  await push(registry, place, "unsigned", { layers: [await fluxLayer({ unsigned: "x" })] });
}

const verified = (hosts: SourceHosts, place: string, tag: string, provider: string, more: JsonObject = {}) =>
  at(hosts, place, { ref: { tag }, verify: { provider, ...more } });

const right = secret("right", { "a.pub": pub(keys) });
const policy = (statement: JsonObject) =>
  JSON.stringify({ version: "1.0", trustPolicies: [{ name: "all", registryScopes: ["*"], ...statement }] });
const strict = {
  signatureVerification: { level: "strict" },
  trustStores: ["ca:all"],
  trustedIdentities: ["*"],
};

export const ociSignatures: readonly Scenario[] = [
  {
    name: "the signature of an artifact by cosign",
    steps: [
      {
        what: "a missing Secret",
        change: pushSigned,
        apply: (hosts, place) => [right, verified(hosts, place, "signed", "cosign", { secretRef: { name: "none" } })],
      },
      ...secretSteps(
        {
          "an empty Secret": {},
          "a key without .pub": { cosign: pub(keys) },
          "a key that is none": { "cosign.pub": "x" },
          "another key": { "cosign.pub": pub(others) },
          "both keys": { "a.pub": pub(others), "b.pub": pub(keys) },
          "a key that is none beside the right one": { "a.pub": "x", "b.pub": pub(keys) },
        },
        (hosts, place, name) => verified(hosts, place, "signed", "cosign", { secretRef: { name } }),
      ),
      {
        what: "two signatures of which one is good",
        apply: (hosts, place) => [verified(hosts, place, "twice", "cosign", { secretRef: { name: "right" } })],
      },
      {
        what: "not signed",
        apply: (hosts, place) => [verified(hosts, place, "unsigned", "cosign", { secretRef: { name: "right" } })],
      },
      { what: "another provider", apply: (hosts, place) => [verified(hosts, place, "signed", "other")] },
      {
        what: "a trust root that is missing",
        apply: (hosts, place) => [
          verified(hosts, place, "signed", "cosign", { trustedRootSecretRef: { name: "none" } }),
        ],
      },
      ...secretSteps(
        { "a trust root without its key": {}, "a trust root that is none": { "trusted_root.json": "{}" } },
        (hosts, place, name) => verified(hosts, place, "signed", "cosign", { trustedRootSecretRef: { name } }),
      ),
    ],
  },
  {
    name: "the signature of an artifact by Notation",
    steps: [
      {
        what: "without a Secret",
        change: pushSigned,
        apply: (hosts, place) => [verified(hosts, place, "signed", "notation")],
      },
      ...secretSteps(
        {
          "a missing Secret": undefined,
          "without a policy": { "a.pub": pub(keys) },
          "a policy that is none": { "trustpolicy.json": "{" },
          "an empty policy": { "trustpolicy.json": "{}" },
          "a policy of no statements": {
            "trustpolicy.json": JSON.stringify({ version: "1.0", trustPolicies: [] }),
            "ca.crt": authority,
          },
          "a policy and no signature": { "trustpolicy.json": policy(strict), "ca.crt": authority },
          "a policy that skips": {
            "trustpolicy.json": policy({ signatureVerification: { level: "skip" } }),
            "ca.crt": authority,
          },
        },
        (hosts, place, name) => verified(hosts, place, "signed", "notation", { secretRef: { name } }),
      ),
    ],
  },
  {
    name: "an artifact that is verified later",
    isStory: true,
    steps: [
      {
        what: "not verified",
        change: pushSigned,
        apply: (hosts, place) => [right, at(hosts, place, { ref: { tag: "unsigned" } })],
      },
      {
        what: "verified",
        apply: (hosts, place) => [verified(hosts, place, "unsigned", "cosign", { secretRef: { name: "right" } })],
      },
      { what: "verified no more", apply: (hosts, place) => [at(hosts, place, { ref: { tag: "unsigned" } })] },
    ],
  },
];
