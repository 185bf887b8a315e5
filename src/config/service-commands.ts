/** Names of the commands of the service. This file imports nothing, so that `svc --help` prints at once. */
export const SERVICE_COMMAND_NAMES = ['serve', 'export', 'clean', 'version', 'help'] as const;

export type ServiceCommand = (typeof SERVICE_COMMAND_NAMES)[number];

/** Commands of the service with their summaries, for the list of all commands. */
export const SERVICE_COMMANDS: readonly (readonly [name: string, summary: string])[] = [
  ['serve', 'start the service'],
  ['export', 'print the metadata as JSON, {"resource_version", "metadata"}; works without a running service'],
  ['clean', 'remove the metadata and all other state of the service (schema svc_catalog of the metadata database); asks for confirmation'],
  ['help', 'print this list'],
];
