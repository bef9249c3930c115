import { describe, expect, test } from "vitest";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { configTopic } from "../../../lib/core/topics.ts";
import { canary } from "../canary.ts";
import { encrypted, plain, privateKey, vaultExchange } from "./file-artifacts.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");
const fromBase64 = (text: string): string => Buffer.from(text, "base64").toString();
const annotation = "kustomize.toolkit.fluxcd.io/decrypt";

/** Encrypted manifests. */
export function decryptionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`encrypted manifests on ${name}`, () => {
    const sops = { provider: "sops", secretRef: { name: "sops-keys" } };
    const putKeys = async ({ cluster, namespace, signal }: World, stringData: JsonObject, within = namespace) => {
      const manifest = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "sops-keys", namespace: within },
        stringData,
      };
      await cluster.apply(manifest, { manager: "test", force: true }, signal);
    };
    /** A world with the age key of the fixtures in its decryption Secret. */
    const worldWithKey = async (): Promise<World> => {
      const world = await newWorld();
      await putKeys(world, { "age.agekey": privateKey("age.agekey") });
      return world;
    };
    const dataOf = (object: LiveObject | undefined) => {
      const data = Object.entries(isJsonObject(object?.["data"]) ? object["data"] : {});
      return Object.fromEntries(data.map(([key, value]) => [key, typeof value === "string" ? fromBase64(value) : ""]));
    };
    const secret = async (world: World, object: string) => dataOf(await world.get("Secret", object));
    const messages = async (world: World) => JSON.stringify((await world.status("app"))["conditions"]);

    test("are applied in plain text, whether encrypted with age, post-quantum age, PGP or Vault's transit engine (62)", async () => {
      const world = await newWorld();
      await putKeys(world, {
        "age.agekey": privateKey("age.agekey"),
        "quantum.agekey": privateKey("age-pq.agekey"),
        "pgp.asc": privateKey("pgp.asc"),
        "sops.vault-token": "a-token\n",
      });
      const { request, response } = vaultExchange();
      const asked: unknown[] = [];
      world.sopsKeys = {
        ...world.sopsKeys,
        http: {
          send: async ({ method, url, headers = {}, body = new Uint8Array() }) => {
            asked.push({
              method,
              url,
              token: headers["x-vault-token"],
              body: JSON.parse(Buffer.from(body).toString()),
            });
            return { url, status: response.status, headers: {}, body: Buffer.from(JSON.stringify(response.body)) };
          },
        },
      };
      const names = ["age", "age-pq", "pgp", "vault"];
      await world.publishFiles(
        "v1",
        Object.fromEntries(names.map((file) => [`${file}.yaml`, encrypted(`${file}.yaml`)])),
      );
      await world.kustomization("app", { decryption: sops });
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      for (const each of names) expect(await secret(world, each)).toEqual({ key: canary });
      const { method, path, body } = request;
      expect(asked).toEqual([{ method, url: `http://127.0.0.1:18200${path}`, token: "a-token", body }]);
    });

    test("reach generators as plain files, also a ConfigMap generator that shares one (63)", async () => {
      const world = await worldWithKey();
      const kustomization = {
        generatorOptions: { disableNameSuffixHash: true },
        secretGenerator: [
          { name: "env", envs: ["app.env"] },
          { name: "files", files: ["blob.bin", "config.yaml=deep/config.txt", "config.ini"] },
        ],
        configMapGenerator: [{ name: "shared", envs: ["app.env"] }],
      };
      await world.publishFiles("v1", {
        "kustomization.yaml": JSON.stringify(kustomization),
        "app.env": encrypted("app.env"),
        "blob.bin": encrypted("blob.bin"),
        "deep/config.txt": encrypted("config.yaml"),
        "config.ini": encrypted("config.ini"),
      });
      await world.kustomization("app", { decryption: sops });
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await secret(world, "env")).toEqual({ key: canary, other: "two words" });
      expect((await world.get("ConfigMap", "shared"))?.["data"]).toEqual({ key: canary, other: "two words" });
      const files = (await world.get("Secret", "files"))?.["data"];
      expect(files).toMatchObject({ "blob.bin": base64(plain("blob.bin")) });
      expect(await secret(world, "files")).toMatchObject({
        "config.yaml": expect.stringContaining(`key: ${canary}\n`),
        "config.ini": expect.stringContaining(canary),
      });
    });

    test("reach patches as plain files, also in a component (64)", async () => {
      const world = await worldWithKey();
      const target = { apiVersion: "v1", kind: "Secret", metadata: { name: "patched" }, stringData: { other: "x" } };
      await world.publishFiles("v1", {
        "app/kustomization.yaml": JSON.stringify({ resources: ["secret.yaml"], components: ["../part"] }),
        "app/secret.yaml": JSON.stringify(target),
        "part/kustomization.yaml": JSON.stringify({
          apiVersion: "kustomize.config.k8s.io/v1alpha1",
          kind: "Component",
          patches: [{ path: "patch.yaml" }],
        }),
        "part/patch.yaml": encrypted("patch.yaml"),
      });
      await world.kustomization("app", { path: "app", decryption: sops });
      await world.run("app");
      expect(await secret(world, "patched")).toEqual({ key: canary, other: "x" });
    });

    test("are decrypted as files if a Secret has them as values, such as a registry login (65)", async () => {
      const world = await worldWithKey();
      const metadata = { name: "login" };
      const data = { ".dockerconfigjson": base64(encrypted("pull.json")) };
      const login = { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/dockerconfigjson", data };
      await world.publishFiles("v1", { "login.yaml": JSON.stringify(login) });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      const found = await secret(world, "login");
      expect(JSON.parse(found[".dockerconfigjson"] ?? "")).toEqual(JSON.parse(plain("pull.json").toString()));
    });

    test("may be objects of any kind, several in a file", async () => {
      const world = await worldWithKey();
      await world.publishFiles("v1", {
        "documents.yaml": encrypted("settings.yaml"),
        "data.yaml": encrypted("data.yaml"),
      });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      expect(await world.ready("app")).toContain("True ReconciliationSucceeded");
      expect((await world.get("ConfigMap", "settings"))?.["data"]).toEqual({ key: canary, size: "3" });
      expect((await world.get("ConfigMap", "more"))?.["data"]).toEqual({ key: canary });
      expect(await secret(world, "data")).toEqual({ user: "admin", key: canary });
      expect((await world.get("Secret", "data"))?.["sops"]).toBeUndefined();
    });

    test("get their variables after decryption", async () => {
      const world = await worldWithKey();
      await world.publishFiles("v1", { "greeting.yaml": encrypted("greeting.yaml") });
      await world.kustomization("app", { decryption: sops, postBuild: { substitute: { who: "world" } } });
      await world.run("app");
      expect((await world.get("ConfigMap", "template"))?.["data"]).toEqual({ key: canary, greeting: "hello world" });
    });

    test("fail the revision before anything of it is applied if spec.decryption is not set (66)", async () => {
      const world = await newWorld();
      const revision = await world.publishFiles("v1", {
        "a.yaml": JSON.stringify(configMap("a")),
        "data.yaml": encrypted("data.yaml"),
      });
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const message = `Secret/${world.namespace}/data is SOPS encrypted, configuring decryption is required for this secret to be reconciled`;
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${message}`);
      expect(await world.events("app")).toEqual([`Warning ReconciliationFailed: ${message}`]);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.status("app")).toMatchObject({
        lastAttemptedRevision: revision,
        history: [{ lastReconciledStatus: "ReconciliationFailed", metadata: { revision } }],
      });
    });

    test("stay encrypted with an annotation, which the API server refuses in a Secret; a label does not count (67)", async () => {
      const world = await worldWithKey();
      const text = encrypted("data.yaml").toString();
      const mark = `${annotation}: Disabled`;
      const labelled = text.replace("        app: web\n", `        app: web\n        ${mark}\n`);
      world.sopsIgnoreMac = true;
      await world.publishFiles("v1", { "data.yaml": labelled });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await secret(world, "data")).toMatchObject({ key: canary });

      const annotated = text.replace("    name: data\n", `    name: data\n    annotations:\n        ${mark}\n`);
      await world.publishFiles("v2", { "data.yaml": annotated });
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Secret\/[\w-]+\/data dry-run failed: failed to create typed patch object \([^)]*\): \.sops: field not declared in schema\n$/,
      );
    });

    test("are decrypted with the age keys of the installation, unless spec.decryption names a Secret (68)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const ageSecret = { namespace, name: "sops-keys" };
      await putKeys(world, { "age.agekey": privateKey("age.agekey") });
      world.sopsKeys = { ...world.sopsKeys, ageSecret };
      await world.publishFiles("v1", { "data.yaml": encrypted("data.yaml") });
      await world.kustomization("app", { decryption: { provider: "sops" } });
      await world.run("app");
      expect(await secret(world, "data")).toMatchObject({ key: canary });

      const own = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "own", namespace },
        stringData: { "a.agekey": privateKey("another.agekey") },
      };
      await world.cluster.apply(own, { manager: "test", force: true }, world.signal);
      await world.kustomization("app", { decryption: { provider: "sops", secretRef: { name: "own" } } });
      await world.run("app");
      expect(await world.ready("app")).toContain(
        `False BuildFailed: decryption failed for 'Secret.v1.[noGrp]/data': failed to decrypt and format '${namespace}/data' Secret data: cannot get sops data key: `,
      );
    });

    test("are not decrypted with an account's identity while the gate is off: stalled, and the generation is not observed (69)", async () => {
      const world = await newWorld();
      await world.publishFiles("v1", { "data.yaml": encrypted("data.yaml") });
      await world.kustomization("app", { decryption: { provider: "sops", serviceAccountName: "decrypter" } });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled", dueInMs: undefined });
      const message =
        "to use spec.decryption.serviceAccountName for decryption authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
      const status = await world.status("app");
      expect(status["observedGeneration"]).toBe(-1);
      expect(status["conditions"]).toMatchObject([
        { type: "Stalled", status: "True", reason: "FeatureGateDisabled", message },
        { type: "Ready", status: "False", reason: "FeatureGateDisabled", message },
      ]);
      expect(await world.events("app")).toEqual([`Warning FeatureGateDisabled: ${message}`]);
      world.gates = { ...defaultGates, ObjectLevelWorkloadIdentity: true };
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await messages(world)).not.toContain("FeatureGateDisabled");
    });

    test("are not written again by a second run, whose events name none of them (70)", async () => {
      const world = await worldWithKey();
      const files = { "data.yaml": encrypted("data.yaml"), "age.yaml": encrypted("age.yaml") };
      await world.publishFiles("v1", files);
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      const version = async () => (await world.get("Secret", "data"))?.metadata.resourceVersion;
      const before = await version();
      const revision = await world.publishFiles("v2", { ...files, "README.md": "another artifact" });
      await world.run("app");
      await world.run("app");
      expect(await version()).toBe(before);
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect((await world.events("app")).filter((event) => event.includes("configured"))).toEqual([]);
    });

    test("fail the build if the decryption Secret is missing, even without encrypted files; creating it wakes the Kustomization (71)", async () => {
      const world = await newWorld();
      const revision = await world.publishFiles("v1", { "a.yaml": JSON.stringify(configMap("a")) });
      await world.kustomization("app", { decryption: sops });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toBe('False BuildFailed: secrets "sops-keys" not found');
      expect((await world.status("app"))["lastAttemptedRevision"]).toBe(revision);
      expect(world.subscriptionsOf("app")).toContain(
        configTopic({ cluster: "test", kind: "Secret", namespace: world.namespace, name: "sops-keys" }),
      );
      await putKeys(world, { "age.agekey": privateKey("age.agekey") });
      await world.run("app");
      expect(await world.ready("app")).toContain("True ReconciliationSucceeded");
    });

    test("fail the build, and stay unchanged in the cluster, once their key is missing", async () => {
      const world = await worldWithKey();
      await world.publishFiles("v1", { "data.yaml": encrypted("data.yaml") });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      await putKeys(world, { "age.agekey": privateKey("another.agekey") });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain("cannot get sops data key: ");
      expect(await secret(world, "data")).toMatchObject({ key: canary });
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([`${world.namespace}_data__Secret`]);
    });

    test("with an invalid key name the entry of the Secret, and not its content", async () => {
      const world = await newWorld();
      await putKeys(world, { "age.agekey": canary });
      await world.publishFiles("v1", { "data.yaml": encrypted("data.yaml") });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      expect(await world.ready("app")).toContain(
        `False BuildFailed: failed to import 'age.agekey' data from sops decryption Secret '${world.namespace}/sops-keys': `,
      );
    });

    test("that were edited by hand fail the build by their MAC, and pass it with sops-ignore-mac, as in Flux", async () => {
      const world = await worldWithKey();
      const changed = encrypted("data.yaml").toString().replace("app: web", "app: another");
      await world.publishFiles("v1", { "data.yaml": changed });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      const failed = `False BuildFailed: decryption failed for 'Secret.v1.[noGrp]/data': failed to decrypt and format '${world.namespace}/data' Secret data: `;
      const mend =
        "a field was changed, added or removed after the encryption. Restore the file, and change it with sops edit";
      expect(await world.ready("app")).toBe(
        `${failed}failed to verify sops data integrity: MAC mismatch (data.yaml): ${mend}`,
      );
      world.sopsIgnoreMac = true;
      await world.run("app");
      expect(await secret(world, "data")).toMatchObject({ key: canary });
    });

    test("with a broken expression are reported without the expression", async () => {
      const world = await worldWithKey();
      await world.publishFiles("v1", { "template.yaml": encrypted("template.yaml") });
      await world.kustomization("app", { decryption: sops, postBuild: { substitute: { who: "world" } } });
      await world.run("app");
      expect(await world.ready("app")).toContain(
        "False BuildFailed: post build failed for 'ConfigMap.v1.[noGrp]/template': envsubst error: variable substitution failed: ",
      );
    });

    test("that the API server refuses are reported without their content, also if they are not Secrets", async () => {
      const world = await worldWithKey();
      await world.publishFiles("v1", { "bad.yaml": encrypted("bad-label.yaml") });
      await world.kustomization("app", { decryption: sops });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False ReconciliationFailed: ConfigMap\/[\w-]+\/bad dry-run failed/);
      expect(await world.ready("app")).toContain("*****");
    });

    test("keep objects that another Kustomization is about to have, even if its keys are missing", async () => {
      const world = await worldWithKey();
      const data = encrypted("data.yaml");
      await world.publishFiles("v1", { "one/data.yaml": data, "two/b.yaml": JSON.stringify(configMap("b")) });
      const theirs = { path: "two", decryption: { provider: "sops", secretRef: { name: "none" } } };
      await world.kustomization("app", { path: "one", decryption: sops });
      await world.kustomization("other", theirs);
      await world.run("app");
      const uid = (await world.get("Secret", "data"))?.metadata.uid;
      await world.publishFiles("v2", { "one/a.yaml": JSON.stringify(configMap("a")), "two/data.yaml": data });
      await world.run("app");
      expect((await world.get("Secret", "data"))?.metadata.uid).toBe(uid);
      await world.kustomization("other", { ...theirs, decryption: sops });
      await world.run("other");
      expect((await world.get("Secret", "data"))?.metadata).toMatchObject({
        uid,
        labels: { "kustomize.toolkit.fluxcd.io/name": "other" },
      });
    });

    test("keep objects that another Kustomization is about to generate under a name that depends on their content", async () => {
      const world = await worldWithKey();
      const generator = {
        "kustomization.yaml": JSON.stringify({ secretGenerator: [{ name: "env", envs: ["app.env"] }] }),
        "app.env": encrypted("app.env"),
      };
      const within = (folder: string) =>
        Object.fromEntries(Object.entries(generator).map(([file, content]) => [`${folder}/${file}`, content]));
      await world.publishFiles("v1", { ...within("one"), "two/b.yaml": JSON.stringify(configMap("b")) });
      await world.kustomization("app", { path: "one", decryption: sops });
      await world.kustomization("other", { path: "two", decryption: sops });
      await world.run("app");
      const [entry] = await world.inventory("app");
      const generated = entry?.id.split("_")[1] ?? "";
      expect(generated).toMatch(/^env-/);
      await world.publishFiles("v2", { "one/a.yaml": JSON.stringify(configMap("a")), ...within("two") });
      await world.run("app");
      expect(await secret(world, generated)).toMatchObject({ key: canary });
      await world.run("other");
      expect((await world.inventory("other")).map(({ id }) => id)).toEqual([`${world.namespace}_${generated}__Secret`]);
    });
  });
}
