import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { findCondition } from "../../lib/api/condition.ts";
import { OciRepositoryStatus } from "../../lib/api/oci-repository.ts";
import { isJsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import { example, liveObjects, marks, pushEdited, same, untilApplied } from "./actions.ts";
import { managed } from "./objects.ts";
import { readManifests } from "./read-manifests.ts";
import { signArtifact } from "./sign-artifact.ts";
import { appName, mustBe, namespace, type Stage, until } from "./stage.ts";
import type { Report, Scene } from "./story.ts";

/** The story of a team that rolls out only signed artifacts: `npm run demo -- signed`. */
export function signedScenes(): readonly Scene[] {
  const [team, other] = [keyPair(), keyPair()];
  return [
    { title: "A push without a signature is refused", play: (stage) => pushUnsigned(stage, team.publicKey) },
    { title: "The team signs it", play: (stage) => signPushed(stage, team.privateKey) },
    { title: "A push with the signature of another key", play: (stage) => pushSignedBy(stage, other.privateKey) },
    { title: "The team signs that one too", play: (stage) => signPushed(stage, team.privateKey) },
  ];
}

function keyPair() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

async function pushUnsigned(stage: Stage, key: KeyObject): Promise<Report> {
  const secret: Manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "cosign-keys", namespace },
    stringData: { "team.pub": String(key.export({ type: "spki", format: "pem" })) },
  };
  const { revision, at } = await stage.push(join(example, "manifests"));
  const url = `oci://${stage.sluice().ready.registry}/${appName}`;
  const text = (await readFile(join(example, "source.yaml"), "utf8")).replace("oci://127.0.0.1:5000/oddy-test", url);
  const verify = { provider: "cosign", secretRef: { name: "cosign-keys" } };
  for (const manifest of [secret, ...readManifests(text)]) {
    const spec = isJsonObject(manifest["spec"]) ? manifest["spec"] : {};
    const whole = manifest.kind === "OCIRepository" ? { ...manifest, spec: { ...spec, verify } } : manifest;
    await stage.cluster.apply(whole, { manager: "kubectl", force: true }, stage.signal);
  }
  const why = await untilRefused(stage, revision);
  mustBe("nothing is applied", (await liveObjects(stage, managed)).length === 0, "some objects exist");
  return { hops: { refused: Date.now() - at }, facts: [why, "nothing is applied, and nothing was downloaded"] };
}

/** Signs what is under the tag now, and waits until it is applied. */
async function signPushed(stage: Stage, key: KeyObject): Promise<Report> {
  const { message } = await verified(stage);
  const [digest = ""] = /sha256:[0-9a-f]{64}/.exec(message) ?? [];
  const at = Date.now();
  await signArtifact({ host: stage.sluice().ready.registry, repository: appName, digest }, key, stage.signal);
  const hops = await untilApplied(stage, `v1@${digest}`, at);
  const now = await verified(stage);
  mustBe("the source is verified", now.status === "True", now.message);
  return { hops, facts: [now.message, await stage.ready()] };
}

async function pushSignedBy(stage: Stage, key: KeyObject): Promise<Report> {
  const before = await liveObjects(stage, managed);
  const { revision, at } = await pushEdited(stage, (folder) => rm(join(folder, "pdb.yaml")));
  const host = stage.sluice().ready.registry;
  await signArtifact({ host, repository: appName, digest: revision.replace("v1@", "") }, key, stage.signal);
  const why = await untilRefused(stage, revision);
  const after = await liveObjects(stage, managed);
  mustBe("the cluster is as before", same(before, after, marks), "it was changed");
  return {
    hops: { refused: Date.now() - at },
    facts: [why, "the cluster is as before, with the last signed artifact"],
  };
}

async function untilRefused(stage: Stage, revision: string): Promise<string> {
  const look = async () => {
    const { status, message } = await verified(stage);
    return status === "False" && message.includes(revision.replace("v1@", "")) ? message : undefined;
  };
  return until("the signature is missed", look, async () => (await verified(stage)).message, stage.signal);
}

/** The condition SourceVerified of the source. */
async function verified(stage: Stage): Promise<{ readonly status: string; readonly message: string }> {
  const live = await stage.get("OCIRepository", appName, "source.toolkit.fluxcd.io/v1");
  const { conditions = [] } = OciRepositoryStatus.safeParse(live?.["status"] ?? {}).data ?? {};
  return findCondition(conditions, "SourceVerified") ?? { status: "Unknown", message: "no condition SourceVerified" };
}
