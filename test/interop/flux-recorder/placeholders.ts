/** The text of a recorded step without the values that differ from run to run in every scenario. */
export function withPlaceholders(text: string): string {
  return text
    .replace(/\b(creationTimestamp|\w+Time|\w+Reconciled|time): ['"]?\d{4}-\d\d-\d\dT[\d:.]+Z['"]?/g, '$1: "<time>"')
    .replace(/(image\.created): ['"]?\d{4}-\d\d-\d\dT[\d:.]+Z['"]?/g, '$1: "<time>"')
    .replace(/\buid: ['"]?[0-9a-f]{8}-[0-9a-f-]{27}['"]?/g, 'uid: "<uid>"')
    .replace(/\bresourceVersion: ['"]?\d+['"]?/g, 'resourceVersion: "<resourceVersion>"')
    .replace(/\/[\w/.-]*\/flux-recorder-\w+\/scratch\/kustomization-\d+/g, "<tmp>")
    .replace(/\/[\w/.-]*\/flux-recorder-\w+/g, "<elsewhere>");
}
