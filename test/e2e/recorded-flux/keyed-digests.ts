import type { Difference } from "./difference.ts";

/**
 * Builds that hold a Secret, or a value that was decrypted or substituted from one, in scenarios of one step with many
 * Kustomizations: by their place, the digest that Flux has in the history.
 */
const plainDigests: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  "decryption-odd": {
    0: "sha256:2b36858ece0c91126ef8014c0d41e463b9d8fa991632a223c0c882f908f1389b", // dec
    5: "sha256:b2226c5926e0cefe8c63dfddc0bf0db9c47b6393c2acb06c6f14d3069243706f", // nomac
    7: "sha256:88a1e5b342170f30a1b00dbe783663f8996b93f116221574bc460374bd04bb5f", // wholecm
    8: "sha256:c06b9c51561118ef3df4c5fdb1c3beabf260ec509e4d05b1d7e2f8f310cdc791", // deployenc
    9: "sha256:4c76a0c985d7a2245d64bb2dd1290880f24d6b4a8acdf69b7f45748803143514", // substenc
    10: "sha256:8f37ce37452955b5140ba1d7254c97e89b62ec0455f1fc9e436e9c37c43900e7", // gentype
    11: "sha256:471e6495f889f57ba07d7aaf4832505206fda4cb171abd2053c0a6cf874ce6d3", // genbinasyaml
    12: "sha256:5385cd1b3e5c99c4d1fceebd6232e12ede1edd111fd5499fa6b19cb5c2c8e81b", // cmgen
    16: "sha256:d0d53658e336931b3763efde899f98f017338d954ae026a7fc985f79f77616e4", // subst
  },
  generators: {
    8: "sha256:a6577ca3824bd3b20130779864de0932a2ab0c8b0d89890d83b08b799d66a4bc", // secret
  },
  "odd-kustomizations": {
    21: "sha256:89e256dea7aebb65f6899874d53b8a040b979f500a6359c1bd3120d900b92a13", // sort
  },
  "variables-odd": {
    19: "sha256:c97b54d8b62e5b27ce236ed8c45ec9d270d05e7f680f95f2469663a7637cd975", // secfail
  },
};

export const keyedDigests: readonly Difference[] = Object.entries(plainDigests).flatMap(([scenario, digests]) =>
  Object.entries(digests).map(([place, flux]) => ({
    scenario,
    step: "01-all",
    at: ["objects", Number(place), "status", "history", 0, "digest"],
    flux,
    sluice: "hmac-sha256:<keyed>",
    why: "lib/flows/kustomization/history-snapshots.ts: a Secret's value could be guessed by a plain digest",
  })),
);
