import type { SopsFormat } from "../format.ts";
import { dotenvStore } from "./dotenv.ts";
import { iniStore } from "./ini.ts";
import { binaryStore, jsonStore } from "./json.ts";
import type { Store } from "./store.ts";
import { emitYaml } from "./yaml-emit.ts";
import { loadYaml } from "./yaml-load.ts";

/** YAML as go-yaml v3 reads it, and as it prints it with an indent of four. Aliases are expanded, comments are kept. */
const yamlStore: Store = { metadata: "nested", load: loadYaml, emit: emitYaml };

export function storeOf(format: SopsFormat): Store {
  return stores[format];
}

const stores: { readonly [format in SopsFormat]: Store } = {
  binary: binaryStore,
  dotenv: dotenvStore,
  ini: iniStore,
  json: jsonStore,
  yaml: yamlStore,
};
