import type { Difference } from "./difference.ts";

const noChanges = "no changes since last reconciliation: observed revision 'main@sha1:";
const gitStored = {
  object: "GitRepository/app",
  type: "Normal",
  reason: "NewArtifact",
  message: "stored artifact for commit 'Release 1.0.0'",
  source: "source-controller",
  annotations: { "source.toolkit.fluxcd.io/revision": "1.0.0@sha1:fc846501fda54552e9d8ab8135a29c905c3f33ce" },
};
const ambiguous = {
  object: "GitRepository/app",
  type: "Warning",
  reason: "AmbiguousReference",
  message: "spec.ref.semver and spec.ref.branch change nothing, since spec.ref.tag takes precedence",
  source: "source-controller",
};
const [mainStored, libStored] = [
  ["app", "Main", "8c612b71940c4f348a38925bb75a34327407736d"],
  ["lib", "Lib", "45e9171260c2960a3b8c3249fc5c9f7f92ad2b76"],
].map(([name, text, commit]) => ({
  ...gitStored,
  object: `GitRepository/${name}`,
  message: `stored artifact for commit '${text}'`,
  annotations: { "source.toolkit.fluxcd.io/revision": `main@sha1:${commit}` },
}));
const mainUnchanged = {
  object: "GitRepository/app",
  type: "Normal",
  reason: "GitOperationSucceeded",
  message: `${noChanges}8c612b71940c4f348a38925bb75a34327407736d'`,
  source: "source-controller",
};
const unsigned = {
  object: "OCIRepository/app",
  type: "Warning",
  reason: "VerificationError",
  message:
    "failed to verify the signature using provider 'cosign': no matching signatures were found for '<registry>/golden-oci-cosign@sha256:<digest>'",
  source: "source-controller",
};

/** What Flux's receiver writes into an object that it wakes, and its controller then copies. @param at which of the step's objects */
function marked(step: string, at: number): readonly Difference[] {
  const [scenario = "", name = ""] = step.split("/");
  const difference = {
    scenario,
    step: name,
    why: "docs/differences-from-flux.md: the mark of the queue stands for the annotation",
  };
  const manager = {
    manager: "notification-controller",
    operation: "Update",
    apiVersion: "source.toolkit.fluxcd.io/v1",
  };
  const annotations = { "reconcile.fluxcd.io/requestedAt": "<time>" };
  return [
    { ...difference, at: ["objects", at, "metadata", "annotations"], flux: annotations, sluice: undefined },
    { ...difference, at: ["objects", at, "metadata", "managedFields", 1], flux: manager, sluice: undefined },
    { ...difference, at: ["objects", at, "status", "lastHandledReconcileAt"], flux: "<time>", sluice: undefined },
  ];
}

/** Kubernetes counts an event up whose text is the same, and the client that Flux uses leaves the annotations of the first one on it. */
function annotatedAnew(step: string, sluice: string): Difference {
  return {
    scenario: "bucket",
    step,
    at: ["events", 0, "annotations", "source.toolkit.fluxcd.io/revision"],
    flux: "sha256:278ee8a828f2d7e8d86f4fcb3848c575ef10af620fe83435a280bf46daf0fe5d",
    sluice,
    why: "the event has the revision that it is about, also where its text is that of an earlier one",
  };
}

/** Of the scenarios of git, of buckets and of webhooks. */
export const sourceDifferences: readonly Difference[] = [
  annotatedAnew("03-object-changed", "sha256:79d2a3ea2d7cb4c99dde583505a2929aa9501f4dac2da712cbf530fd33c0d0b9"),
  annotatedAnew("04-one-removed-one-added", "sha256:9d1a89a6158a19ce9ecefb9e054529b999cb03a8b34b3d298bf1e645f3bf2d7c"),
  ...[
    "receiver-generic/03-get",
    "receiver-generic/04-json-body",
    "receiver-github/02-ping",
    "receiver-github/03-push",
    "receiver-github/04-push-as-form",
    "receiver-github/05-push-sha1",
    "receiver-github/06-refused",
  ].flatMap((step) => marked(step, 0)),
  ...[
    "receiver-generic/02-post",
    "receiver-generic/06-suspended",
    "receiver-github/07-ping-not-listed",
    "receiver-github/08-all-events",
    "receiver-resources/01-wildcard-with-labels",
    "receiver-resources/02-name-with-other-labels",
    "receiver-resources/03-one-missing",
    "receiver-resources/04-wildcard-without-labels",
  ].flatMap((step) => marked(step, 1)),
  ...marked("receiver-resources/01-wildcard-with-labels", 2),
  {
    scenario: "git-semver",
    step: "07-tag-and-semver",
    at: ["events"],
    flux: [gitStored],
    sluice: [ambiguous, gitStored],
    why: "docs/differences-from-flux.md, 33: which part of a reference counts is told",
  },
  {
    scenario: "git-include",
    step: "03-included",
    at: ["events"],
    flux: [mainStored, libStored],
    sluice: [mainStored, mainUnchanged, libStored],
    why: "Flux was asked to look again; Sluice looks as soon as the included artifact is there",
  },
  {
    scenario: "oci-cosign",
    step: "03-not-signed",
    at: ["events"],
    flux: [unsigned],
    sluice: [unsigned, unsigned],
    why: "Flux was asked to look; Sluice has looked as soon as the artifact was pushed, and then because it was asked",
  },
];
