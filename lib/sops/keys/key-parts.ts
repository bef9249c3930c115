import type { AccountTokens } from "../../core/ports/account-tokens.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { DataKeys } from "../../core/ports/data-keys.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";

/** An object of the installation, in the cluster of the Kustomization. */
export interface InstalledObject {
  readonly namespace: string;
  readonly name: string;
}

/** The parts from which keys are made, in addition to the Secret of an object. */
export interface KeyParts {
  /** Secrets, ConfigMaps and service accounts are read with our own rights, as Flux does. */
  readonly home: Pick<HomeCluster, "get">;
  /** By the network policy: encrypted files and Secrets name hosts. */
  readonly http: Http;
  readonly clock: Pick<Clock, "now">;
  readonly dataKeys: DataKeys;
  /** Undefined where the cluster issues none to us. */
  readonly accountTokens: AccountTokens | undefined;
  /** Flux's flag `sops-age-secret`. */
  readonly ageSecret: InstalledObject | undefined;
  /** Flux's flag `sops-vault-configmap`. */
  readonly vaultConfigMap: InstalledObject | undefined;
  /** Flux's flag `default-decryption-service-account`; empty for none. */
  readonly defaultAccount: string;
}
