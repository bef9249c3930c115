import { afterAll, expect, test } from "vitest";
import { ReceiverSpec } from "../../../../lib/api/receiver.ts";
import { celModule, wasmCel } from "../../../../lib/cel/wasm-cel.ts";
import { checkSpec } from "../../../../lib/flows/receiver/check-spec.ts";
import { receiverWorld } from "../../receiver/receiver-world.ts";

const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
afterAll(() => cel.close());
const terminal = "Reconciliation failed terminally due to configuration error";

function check(rules: object, spec: object = {}): Promise<void> {
  const resources = [{ kind: "GitRepository", name: "web" }];
  const oidcProviders = [{ issuerURL: "https://issuer.example", ...rules }];
  const parsed = ReceiverSpec.parse({ type: "generic-oidc", resources, oidcProviders, ...spec });
  return checkSpec(parsed, cel, new AbortController().signal);
}

const validations = [{ expression: "claims.sub == 'a'", message: "not a" }];

test("notification statement 30: an OIDC expression that does not compile is named", async () => {
  await expect(check({ validations })).resolves.toBeUndefined();
  await expect(check({ validations: [{ expression: "claims.admin", message: "no" }] })).rejects.toMatchObject({
    reason: "InvalidCELExpression",
    message: `${terminal}: oidcProviders[0] (issuerURL="https://issuer.example"): invalid expression for validation "no": CEL expression output type mismatch: expected bool, got dyn`,
  });
  const variables = [{ name: "v", expression: "other" }];
  await expect(check({ validations, variables })).rejects.toThrow('invalid expression for variable "v": ');
});

test("notification statement 30: only generic-oidc has claims", async () => {
  const resourceFilter = "claims.sub == 'a'";
  await expect(check({ validations }, { resourceFilter })).resolves.toBeUndefined();
  const resources = [{ kind: "GitRepository", name: "web" }];
  const github = ReceiverSpec.parse({ type: "github", secretRef: { name: "t" }, resources, resourceFilter });
  await expect(checkSpec(github, cel, new AbortController().signal)).rejects.toMatchObject({
    reason: "InvalidCELExpression",
    message: expect.stringContaining("undeclared reference to 'claims'"),
  });
});

test("each OIDC provider of a Receiver is in its entry, with its own audience, variables and validations", async () => {
  const world = receiverWorld({ cel });
  const oidcProviders = ["a", "a-old", "b"].map((name) => ({
    issuerURL: `https://${name}.example`,
    audience: `audience of ${name}`,
    variables: [{ name: "v", expression: `'${name}'` }],
    validations: [{ expression: `claims.sub == '${name}'`, message: `not ${name}` }],
  }));
  world.receiver({ type: "generic-oidc", secretRef: null, oidcProviders });
  await world.run();
  const [{ entry } = { entry: undefined }] = await world.receivers.find(world.path(), new AbortController().signal);
  expect(entry?.oidcProviders).toEqual(oidcProviders);
});
