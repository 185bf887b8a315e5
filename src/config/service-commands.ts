/** The commands of the service itself. Imports nothing: `svc --help` has to be there at once. */
export const COMMANDS = ['serve', 'export', 'clean', 'version', 'help'] as const;

/** The commands of the service itself, for the list of all commands. */
export const SERVICE_COMMANDS: readonly (readonly [name: string, what: string])[] = [
  ['serve', 'start the service'],
  ['export', 'print the metadata as JSON, {"resource_version", "metadata"}; needs no running service'],
  ['clean', 'remove the metadata and all else that the service keeps, the schema svc_catalog of the metadata database; asks first'],
  ['help', 'print this text'],
];
