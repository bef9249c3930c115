/** Why a module needs no worst input, and which modules these are. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  "whoever installs Sluice wrote what it reads": [
    "functions/configuration.ts",
    "functions/settings/config.ts",
    "functions/settings/granted.ts",
    "functions/settings/installation.ts",
    "functions/settings/print-settings.ts",
    "functions/settings/read-settings.ts",
    "functions/settings/settings.ts",
    "lib/configuration/configuration.ts",
  ],
  "Sluice wrote what it reads, with a limit of its own": [
    "functions/notify.ts",
    "functions/reconcile.ts",
    "lib/apply/inventory-pages.ts",
    "lib/aws/dynamodb/cause-groups.ts",
    "lib/aws/dynamodb/history.ts",
    "lib/aws/dynamodb/inventory-pointer.ts",
    "lib/aws/dynamodb/ledger.ts",
    "lib/aws/dynamodb/rows.ts",
    "lib/aws/dynamodb/subscriptions.ts",
    "lib/core/follows.ts",
    "lib/core/known-words.ts",
    "lib/core/ports/cluster-states.ts",
    "lib/core/ports/receiver-index.ts",
    "lib/core/tag-pages.ts",
    "lib/queue/observe-resource.ts",
    "lib/queue/stored-work-item.ts",
  ],
  "its pattern is a constant that is matched in linear time with a text of at most some KiB": [
    "lib/api/artifact-generator.ts",
    "lib/api/fields.ts",
    "lib/core/duration.ts",
    "lib/core/ecr-registry.ts",
    "lib/core/label-selector.ts",
    "lib/in-cluster/in-cluster-http.ts",
    "lib/core/work-key.ts",
    "lib/http/certificate-fault.ts",
    "lib/receiver/media-type.ts",
  ],
  "the process handles one event at a time, of at most 1 MiB": ["functions/ingest.ts"],
  "the process handles one review at a time, as lib/core/json.ts reads it": ["lib/admission/admission-review.ts"],
  "an object of the API server, which lib/core/json.ts has read": [
    "lib/apply/owned-fields.ts",
    "lib/definitions/custom-resource-definition.ts",
    "lib/kube/api-answer.ts",
    "lib/kube/watch-events.ts",
  ],
  "it matches in slices, for 20 s at most": ["lib/apply/ignore/compile-ignore-rules.ts"],
  "certificates and keys of a file with a limit, which OpenSSL reads in linear time": [
    "lib/core/validation.ts",
    "lib/kube/endpoint.ts",
    "lib/http/tls.ts",
  ],
  "it runs what others read in a thread, with limits of time and memory": [
    "lib/engine/helm-thread.ts",
    "lib/engine/module-thread.ts",
    "lib/engine/module-threads.ts",
    "lib/manifests/thread/build-worker.ts",
    "lib/sops/file/sops-thread.ts",
    "lib/sources/git/ssh-key-thread.ts",
    "lib/threads/thread-job.ts",
    "lib/threads/worker-limit.ts",
  ],
  "a part of lib/manifests/read-document.ts and lib/manifests/parse-output.ts, with whose worst inputs it is measured":
    [
      "lib/manifests/go-yaml/go-schema.ts",
      "lib/manifests/read-failure.ts",
      "lib/manifests/read-objects.ts",
      "lib/manifests/transform-images.ts",
      "lib/manifests/transform-patches.ts",
    ],
  "a message of Helm, which the engine limits, and of which 100 lines are read": ["lib/helm/schema-fault.ts"],
  "values of a release, which the engine limits, searched for in a message of 32 KiB up to a limit of their own": [
    "lib/helm/release-secrets.ts",
  ],
  "a message of kustomize, which the engine cuts": ["lib/manifests/engine-message.ts"],
  "a part of lib/sops/file/open-file.ts, with whose worst inputs it is measured": [
    "lib/sops/cipher.ts",
    "lib/sops/stores/yaml-comments.ts",
  ],
  "answers and keys of at most 256 KiB, of which openpgp and OpenSSL read at most 100": [
    "lib/sops/keys/age-file.ts",
    "lib/sops/keys/ask-key-service.ts",
    "lib/sops/keys/azure-credentials.ts",
    "lib/sops/keys/gcp-kms.ts",
    "lib/sops/keys/pgp.ts",
    "lib/sops/keys/vault.ts",
  ],
  "annotations of at most 256 KiB in JSON, as lib/core/json.ts reads it": ["lib/canary/annotation-json.ts"],
  "a query of at most 256 KiB in JSON, as lib/core/json.ts reads it": ["lib/canary/metrics/providers/cloudwatch.ts"],
  "patterns of its own code, for one-line texts of other modules and names of at most 253 characters": [
    "lib/flows/image-update-automation/resolve-source.ts",
  ],
  "it packs objects that Sluice has made, and reads none": ["lib/sources/git/write/new-objects.ts"],
  "lib/sources/git/ssh-key.ts, with whose worst inputs it is measured, reads the key": [
    "lib/sources/git/write/sign-ssh.ts",
  ],
  "a part of lib/sources/git/pack-objects.ts, with whose worst inputs it is measured": [
    "lib/sources/git/pack-entry.ts",
  ],
  "the client of SSH reads packets of 35,000 bytes at most, and lib/sources/git/pkt-line.ts what they hold": [
    "lib/sources/git/ssh-channel.ts",
    "lib/sources/git/ssh-transport.ts",
  ],
  "answers of at most 256 KiB, and keys that OpenSSL reads in linear time": [
    "lib/sources/bucket/access-token.ts",
    "lib/sources/bucket/google-token.ts",
  ],
  "answers, lines and Secrets of at most 1 MiB, which are read as lib/sources/git/github-app.ts reads its answers": [
    "lib/aws/notification-targets.ts",
    "lib/aws/cloud-watch.ts",
    "lib/canary/metrics/providers/ask.ts",
    "lib/canary/metrics/providers/splunk.ts",
    "lib/canary/metrics/providers/stackdriver.ts",
    "lib/kube/service-proxy.ts",
    "lib/notify/nats-connection.ts",
    "lib/notify/nats-key.ts",
    "lib/notify/providers/googlepubsub.ts",
    "lib/notify/providers/slack.ts",
  ],
  "a part of lib/sources/oci/registry-client.ts, with whose worst inputs it is measured": [
    "lib/sources/oci/registry-fault.ts",
  ],
  "a part of lib/sources/oci/choose-tag.ts, with whose worst inputs it is measured": [
    "lib/sources/semver-range.ts",
    "lib/sources/versions-in.ts",
  ],
  "Secrets of at most 1 MiB, whose entries lib/sources/oci/docker-config.ts reads": [
    "lib/flows/image-repository/registry.ts",
  ],
  "a part of lib/image/scan.ts, with whose worst inputs it is measured": ["lib/image/compile-regex.ts"],
  "a part of lib/sources/oci/verify/bundles.ts, with whose worst inputs it is measured": [
    "lib/sources/oci/verify/cosign-keyless.ts",
  ],
  "whoever runs the process wrote the kubeconfig, and the plugin that it names": [
    "lib/kube/exec-credential.ts",
    "lib/kube/kubeconfig.ts",
  ],
};

/** Readers without a worst input of their own, and why. */
export const measuredElsewhere: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([why, files]) => files.map((file) => [file, why] as const)),
);
