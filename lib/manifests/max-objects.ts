/**
 * Objects that one Kustomization may have. More hold up everybody else while they are planned, and no status of a
 * Kustomization of Flux, with its inventory inside, has room for so many in etcd.
 */
export const maxObjects = 25_000;

export const tooManyObjects = `more than ${maxObjects} objects: split them over several Kustomizations`;
