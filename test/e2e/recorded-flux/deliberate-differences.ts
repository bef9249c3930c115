import type { Difference, Place } from "./difference.ts";
import { keyedDigests } from "./keyed-digests.ts";
import { sourceDifferences } from "./source-differences.ts";

const failedReady: Place = ["objects", 0, "status", "conditions", 1, "message"];
const blockedReady: Place = ["objects", 0, "status", "conditions", 0, "message"];
const event: Place = ["events", 0, "message"];

/** One text that Flux says in several places. */
function said(
  step: string,
  places: readonly Place[],
  texts: { readonly flux: string; readonly sluice: string; readonly why: string },
): readonly Difference[] {
  const [scenario = "", name = ""] = step.split("/");
  return places.map((at) => ({ scenario, step: name, at, ...texts }));
}

const badPort =
  'Service/golden-refused-objects/svc dry-run failed (Invalid): Service "svc" is invalid: [spec.ports[0].port: Invalid value: 800000: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 800000: must be between 1 and 65535, inclusive]\n';
const badLabel =
  "ConfigMap/golden-refused-objects/labels dry-run failed (Invalid): ConfigMap \"labels\" is invalid: metadata.labels: Invalid value: \"bad key\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n";
const pullFailed: readonly Place[] = [1, 2].map((at) => ["objects", 0, "status", "conditions", at, "message"]);

const withSecret = "sha256:f2709378ff3863117d6236d90d685c878f231eae78170606a05055a2ef08af93";
const withBadSecret = "sha256:630f6f05e55e8f8c59a22f3190146dfe57512113723df4e92b3b7159c9032436";
const historyDigest = (at: number): Place => ["objects", 0, "status", "history", at, "digest"];
const keyed = {
  sluice: "hmac-sha256:<keyed>",
  why: "lib/flows/kustomization/history-snapshots.ts: a Secret's value could be guessed by a plain digest",
};

/** Newest first; each step adds one in front. */
const withVariables = [
  "sha256:dbaa2c72b27fa558122e5591ca5a541e16c33b98d98728ea5181ba8f630d1179",
  "sha256:8540cd7c8de9b73e60b1a5dbf80370c907ca0facb5eed180405618b9b223a7a7",
  "sha256:befc36d79b40dd965b18c60dc62ed8eebccfda11668ed7633f391c80b73efc80",
  "sha256:aabcc1c163f2fce1e51e4affb1a47d56fde5e3cc215c9290b19c6ec7280bf0cd",
];
const stillEncrypted = "sha256:74a1a4f485399acac361e2d4fe16861dc3f284199e8f22846b68884cf2b64426";
const decrypted = "sha256:d350da109155804c0d2cc6587a802e1596bb51ca1a9956471e15cb36d03cda18";
const stepsWithVariables = ["04-order-reversed", "03-watched-secret-changes", "02-optional-appears", "01-in-order"];

const beforeAWrite = "ADR 0005: stricter before a write";
const withoutValues = "a status shows no value that an artifact quotes: it may be a secret";
const inMemory = "the engine knows no folder but the artifact";

const ofRevision = {
  "kustomize.toolkit.fluxcd.io/originRevision": "main@sha1:0000000000000000000000000000000000000000",
  "kustomize.toolkit.fluxcd.io/revision": "latest@sha256:<digest>",
};
const bumpConfigured = {
  object: "Kustomization/app",
  type: "Normal",
  reason: "Progressing",
  message: "HorizontalPodAutoscaler/golden-api-version-bump/web configured",
  source: "kustomize-controller",
  annotations: ofRevision,
};
const bumpFinished = {
  object: "Kustomization/app",
  type: "Normal",
  reason: "ReconciliationSucceeded",
  message: "Reconciliation finished in <duration>, next run in 1h0m0s",
  source: "kustomize-controller",
  annotations: { ...ofRevision, "kustomize.toolkit.fluxcd.io/commit_status": "update" },
};
const bumpStored = {
  object: "OCIRepository/app",
  type: "Normal",
  reason: "NewArtifact",
  message:
    "stored artifact with revision 'latest@sha256:<digest>' from 'oci://<registry>/golden-api-version-bump', origin source 'https://example.test/repo', origin revision 'main@sha1:0000000000000000000000000000000000000000'",
  source: "source-controller",
  annotations: { "source.toolkit.fluxcd.io/revision": "latest@sha256:<digest>" },
};

const emptiedStored = {
  ...bumpStored,
  message: bumpStored.message.replace("golden-api-version-bump", "golden-empty-artifact"),
};
const emptiedPruned = {
  ...bumpConfigured,
  message: "ConfigMap/golden-empty-artifact/b deleted\nConfigMap/golden-empty-artifact/a deleted",
};
const emptiedWarning = {
  ...bumpConfigured,
  type: "Warning",
  reason: "PruningAll",
  message:
    "no objects in this revision: pruning all that there are, ConfigMap/golden-empty-artifact/a, ConfigMap/golden-empty-artifact/b; if that is not meant, publish latest@sha256:<digest> again",
};

const unknownApplied = {
  ...bumpConfigured,
  message: "ConfigMap/golden-refused-objects/extra created\nConfigMap/golden-refused-objects/good created",
};
const unknownStored = {
  ...bumpStored,
  message: bumpStored.message.replace("golden-api-version-bump", "golden-refused-objects"),
};
const unknownWarning = {
  ...bumpConfigured,
  type: "Warning",
  reason: "UnknownFields",
  message: "fields that the API server does not know were left out: ConfigMap/golden-refused-objects/extra .surprise",
};

const app: Place = ["objects", 0];
const unasked = {
  flux: "<requested-2>",
  sluice: "<requested-1>",
  why: "Flux was asked to look again; Sluice looks as soon as the dependency is ready",
};

const absentTag = {
  object: "OCIRepository/app",
  type: "Warning",
  reason: "OCIArtifactPullFailed",
  message:
    "failed to determine artifact digest: GET http://<registry>/v2/golden-oci-tag-missing/manifests/absent: MANIFEST_UNKNOWN: manifest unknown",
  source: "source-controller",
};
const noMatch = {
  object: "OCIRepository/range",
  type: "Warning",
  reason: "ReadOperationFailed",
  message:
    "failed to determine the artifact tag for 'oci://<registry>/golden-oci-tag-missing': no match found for semver: >=9.0.0",
  source: "source-controller",
};

const blockedRollout =
  "health check failed after <duration>: timeout waiting for: [Deployment/golden-health-check-timeout/web status: 'InProgress']";

const waiting = (name: string) => ({
  object: `Kustomization/${name}`,
  type: "Normal",
  reason: "DependencyNotReady",
  message: "Dependencies do not meet ready condition, retrying in 30s",
  source: "kustomize-controller",
  annotations: ofRevision,
});

export const deliberateDifferences: readonly Difference[] = [
  ...sourceDifferences,
  ...keyedDigests,
  ...said("depends-on/03-ready", [[...app, "metadata", "annotations", "reconcile.fluxcd.io/requestedAt"]], unasked),
  ...said("depends-on/03-ready", [[...app, "status", "lastHandledReconcileAt"]], unasked),
  {
    scenario: "oci-tag-missing",
    step: "02-semver-without-match",
    at: ["events"],
    flux: [absentTag, noMatch],
    sluice: [noMatch],
    why: "docs/differences-from-flux.md: a source's failure that repeats is told once; Flux counts its event up at each try",
  },
  ...["oci-tls/01-no-ca", "oci-tls/04-another-ca"].flatMap((step) =>
    said(step, [...pullFailed, event], {
      flux: 'failed to determine artifact digest: Get "https://<registry>/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority; GET http://<registry>/v2/: unexpected status code 400 Bad Request: Client sent an HTTP request to an HTTPS server.\n',
      sluice:
        'failed to determine artifact digest: Get "https://<registry>/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
      why: "docs/differences-from-flux.md: where a certificate is not trusted, plain HTTP is not tried",
    }),
  ),
  ...said("health-check-timeout/02-timeout", [failedReady, event], {
    flux: blockedRollout,
    sluice: `${blockedRollout}\nDeployment/golden-health-check-timeout/web: Available: 0/2`,
    why: "docs/health.md: a failed health check says why; explain-health-failures: false restores Flux's text",
  }),
  ...said("depends-odd/01-self", [blockedReady], {
    flux: "dependency 'golden-depends-odd/self' is not ready",
    sluice:
      "dependency 'golden-depends-odd/self' is not ready: circular dependency detected: golden-depends-odd/self -> golden-depends-odd/self",
    why: "Flux says so only in its log, and waits forever",
  }),
  ...said("depends-odd/02-cycle", [blockedReady], {
    flux: "dependency 'golden-depends-odd/b' not found: kustomizations.kustomize.toolkit.fluxcd.io \"b\" not found",
    sluice:
      "dependency 'golden-depends-odd/b' is not ready: circular dependency detected: golden-depends-odd/a -> golden-depends-odd/b -> golden-depends-odd/a",
    why: "Flux has not looked again yet; Sluice has every member of a circle name it at once",
  }),
  {
    scenario: "depends-odd",
    step: "02-cycle",
    at: ["events"],
    flux: [waiting("a"), waiting("b")],
    sluice: [waiting("a"), waiting("a"), waiting("b")],
    why: "a looks again at once, see above",
  },
  ...said("depends-odd/02-cycle", [["objects", 1, "status", "conditions", 0, "message"]], {
    flux: "dependency 'golden-depends-odd/a' is not ready",
    sluice:
      "dependency 'golden-depends-odd/a' is not ready: circular dependency detected: golden-depends-odd/b -> golden-depends-odd/a -> golden-depends-odd/b",
    why: "Flux says so only in its log, and waits forever",
  }),
  ...said("half-landed/01-failed", [failedReady, event], {
    flux: "Half/golden-half-landed/h dry-run failed: failed to create typed patch object (golden-half-landed/h; golden-half.test/v1, Kind=Half): .spec.size: expected numeric (int or float), got string\nCustomResourceDefinition/halves.golden-half.test created\n",
    sluice: "Half/golden-half-landed/h dry-run failed (Invalid): spec.size: must be of type integer\n",
    why: beforeAWrite,
  }),
  {
    scenario: "half-landed",
    step: "01-failed",
    at: ["managed", 0],
    flux: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: {
        name: "halves.golden-half.test",
        labels: {
          "kustomize.toolkit.fluxcd.io/name": "app",
          "kustomize.toolkit.fluxcd.io/namespace": "golden-half-landed",
        },
        managedFields: [
          {
            manager: "kustomize-controller",
            operation: "Apply",
            apiVersion: "apiextensions.k8s.io/v1",
            fields: {
              "f:metadata": {
                "f:labels": {
                  "f:kustomize.toolkit.fluxcd.io/name": {},
                  "f:kustomize.toolkit.fluxcd.io/namespace": {},
                },
              },
              "f:spec": {
                "f:group": {},
                "f:names": { "f:kind": {}, "f:listKind": {}, "f:plural": {}, "f:singular": {} },
                "f:scope": {},
                "f:versions": {},
              },
            },
          },
        ],
      },
      spec: {
        conversion: { strategy: "None" },
        group: "golden-half.test",
        names: { kind: "Half", listKind: "HalfList", plural: "halves", singular: "half" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: { type: "object", properties: { size: { type: "integer", maximum: 10 } } },
                },
              },
            },
            served: true,
            storage: true,
          },
        ],
      },
    },
    sluice: { gone: "apiextensions.k8s.io/v1 CustomResourceDefinition /halves.golden-half.test" },
    why: beforeAWrite,
  },
  ...said("half-landed/02-mended", [event], {
    flux: "ConfigMap/golden-half-landed/a created\nHalf/golden-half-landed/h created",
    sluice:
      "CustomResourceDefinition/halves.golden-half.test created\nConfigMap/golden-half-landed/a created\nHalf/golden-half-landed/h created",
    why: beforeAWrite,
  }),
  ...said("refused-objects/03-two-refusals", [failedReady, event], {
    flux: badPort,
    sluice: `${badLabel}${badPort}`,
    why: "ADR 0005: every refusal is told, not whichever came first",
  }),
  ...said("kustomization-file/02-helm-charts", [failedReady, event], {
    flux: "kustomize build failed: trouble configuring builtin HelmChartInflationGenerator with config: `\nname: chart\nnamespace: golden-kustomization-file\nrepo: https://example.test/charts\nversion: 1.0.0\n`: must specify --enable-helm",
    sluice:
      "kustomize build failed: trouble configuring builtin HelmChartInflationGenerator with config: `\nname: *****\nnamespace: *****\nrepo: *****\nversion: *****\n`: must specify --enable-helm",
    why: withoutValues,
  }),
  ...said("kustomization-file/03-outside", [failedReady, event], {
    flux: "kustomize build failed: accumulating resources: accumulation err='accumulating resources from '../../outside.yaml': fs-security-constraint read <elsewhere>/outside.yaml: path '<elsewhere>/outside.yaml' is not in or below '<tmp>'': must build at directory: not a valid directory: evalsymlink failure on '<elsewhere>/outside.yaml' : lstat <elsewhere>/outside.yaml: no such file or directory",
    sluice:
      "kustomize build failed: accumulating resources: accumulation err='accumulating resources from '../../outside.yaml': fs-security-constraint read /outside.yaml: path '/outside.yaml' is not in or below '.'': must build at directory: not a valid directory: evalsymlink failure on '/outside.yaml' : lstat /outside.yaml: no such file or directory",
    why: inMemory,
  }),
  ...said("patches/05-not-a-patch", [failedReady, event], {
    flux: 'kustomize build failed: trouble configuring builtin PatchTransformer with config: `\npatch: just text\n`: unable to parse SM or JSON patch from [patch: "just text"]',
    sluice:
      "kustomize build failed: trouble configuring builtin PatchTransformer with config: `\npatch: *****\n`: unable to parse SM or JSON patch from [patch: *****]",
    why: "lib/manifests/engine-message.ts: a patch may hold the value of a Secret",
  }),
  ...said("secrets/01-created", [historyDigest(0)], { flux: withSecret, ...keyed }),
  ...said("secrets/02-unchanged", [historyDigest(0)], { flux: withSecret, ...keyed }),
  ...said("secrets/03-bad-base64", [historyDigest(0)], { flux: withBadSecret, ...keyed }),
  ...said("secrets/03-bad-base64", [historyDigest(1)], { flux: withSecret, ...keyed }),
  ...said("sops-age/01-no-decryption", [historyDigest(0)], { flux: stillEncrypted, ...keyed }),
  ...["sops-age/02-decrypted", "sops-age/03-no-op"].flatMap((step) => [
    ...said(step, [historyDigest(0)], { flux: decrypted, ...keyed }),
    ...said(step, [historyDigest(1)], { flux: stillEncrypted, ...keyed }),
  ]),
  ...stepsWithVariables.flatMap((step, newest) =>
    withVariables
      .slice(newest)
      .flatMap((flux, at) => said(`substitute-from/${step}`, [historyDigest(at)], { flux, ...keyed })),
  ),
  ...said("path/03-a-file", [failedReady], {
    flux: "open file.yaml/kustomization.yaml: not a directory remove file.yaml/kustomization.yaml: not a directory",
    sluice: "kustomization path not found: file.yaml: not a directory",
    why: "the path is wrong, and the file that Flux names does not exist in the artifact",
  }),
  {
    scenario: "path",
    step: "03-a-file",
    at: ["objects", 0, "status", "conditions", 1, "reason"],
    flux: "BuildFailed",
    sluice: "ArtifactFailed",
    why: "the reason of any other path that is no folder",
  },
  {
    scenario: "path",
    step: "03-a-file",
    at: ["objects", 0, "status", "conditions", 0, "message"],
    flux: "Building manifests for revision latest@sha256:<digest> with a timeout of 59m30s",
    sluice: "Fetching manifests for revision latest@sha256:<digest> with a timeout of 59m30s",
    why: "the phase of any other path that is no folder",
  },
  {
    scenario: "path",
    step: "03-a-file",
    at: ["objects", 0, "status", "lastAttemptedRevision"],
    flux: "latest@sha256:<digest>",
    sluice: undefined,
    why: "as with any other path that is no folder",
  },
  ...said("path/03-a-file", [event], {
    flux: "open file.yaml/kustomization.yaml: not a directory remove file.yaml/kustomization.yaml: not a directory",
    sluice: "kustomization path not found: file.yaml: not a directory",
    why: "the path is wrong, and the file that Flux names does not exist in the artifact",
  }),
  {
    scenario: "path",
    step: "03-a-file",
    at: ["events", 0, "reason"],
    flux: "BuildFailed",
    sluice: "ArtifactFailed",
    why: "the reason of any other path that is no folder",
  },
  {
    scenario: "api-version-bump",
    step: "02-v2",
    at: ["managed", 0, "metadata", "managedFields", 0],
    flux: {
      manager: "kustomize-controller",
      operation: "Apply",
      apiVersion: "autoscaling/v1",
      fields: {
        "f:metadata": {
          "f:labels": {
            "f:kustomize.toolkit.fluxcd.io/name": {},
            "f:kustomize.toolkit.fluxcd.io/namespace": {},
          },
        },
        "f:spec": {
          "f:maxReplicas": {},
          "f:minReplicas": {},
          "f:scaleTargetRef": {},
          "f:targetCPUUtilizationPercentage": {},
        },
      },
    },
    sluice: {
      manager: "kustomize-controller",
      operation: "Apply",
      apiVersion: "autoscaling/v2",
      fields: {
        "f:metadata": {
          "f:labels": {
            "f:kustomize.toolkit.fluxcd.io/name": {},
            "f:kustomize.toolkit.fluxcd.io/namespace": {},
          },
        },
        "f:spec": {
          "f:maxReplicas": {},
          "f:metrics": {},
          "f:minReplicas": {},
          "f:scaleTargetRef": { "f:apiVersion": {}, "f:kind": {}, "f:name": {} },
        },
      },
    },
    why: "lib/apply/drifted.ts: a field of our value that is not ours would drift unseen later, so it is made ours",
  },
  {
    scenario: "api-version-bump",
    step: "02-v2",
    at: ["events"],
    flux: [bumpFinished, bumpStored],
    sluice: [bumpConfigured, bumpFinished, bumpStored],
    why: "lib/apply/drifted.ts, as above",
  },
  {
    scenario: "empty-artifact",
    step: "02-emptied",
    at: ["events"],
    flux: [emptiedPruned, bumpFinished, emptiedStored],
    sluice: [emptiedWarning, emptiedPruned, bumpFinished, emptiedStored],
    why: "ADR 0008: an empty revision prunes everything as in Flux, and says so before",
  },
  {
    scenario: "refused-objects",
    step: "04-unknown-field",
    at: ["events"],
    flux: [unknownApplied, bumpFinished, unknownStored],
    sluice: [unknownWarning, unknownApplied, bumpFinished, unknownStored],
    why: "ADR 0003: what Flux drops silently is named",
  },
];
