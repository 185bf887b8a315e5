import { ALLOW_INCONSISTENT, EXIT_CODE, failOn, VERBOSE } from './common.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const metadataGroups: readonly VerbGroup[] = [
  { name: 'metadata', aliases: ['md'], summary: 'metadata of the project and of the service' },
  { name: 'metadata inconsistency', aliases: ['ic'], summary: 'metadata objects that do not fit the databases' },
];

const OUTPUT = { flags: '-o, --output <format>', help: 'format of the document', choices: ['json', 'yaml'] } as const;

export const metadataVerbs: readonly Verb[] = [
  {
    path: ['init'],
    summary: 'create a project',
    details:
      'Writes config.yaml, metadata with the source default (SVC_GRAPHQL_DATABASE_URL), folders for migrations, seeds and permission tests, a README, .env.example and .gitignore, with comments that say what belongs where, and prints the next commands. Writes the JSON Schemas of this version to json-schemas, by which editors check the files; renew them with --schemas after an upgrade. Writes a new admin secret to .env, which git ignores, unless a secret is set. With --from, writes the metadata of a running service instead, and no secret. Keeps existing files. In a cloned project without .env, makes it out of .env.example, with a new admin secret.',
    arguments: [{ name: 'dir', help: 'folder of the project. Default: the working directory' }],
    options: [
      { flags: '--from <url>', help: 'URL of a running service whose metadata is written to the project' },
      { flags: '--schemas', help: 'only renew the JSON Schemas in json-schemas, in an existing project' },
    ],
    needs: 'sometimes a service',
    example: 'svc init my-api --endpoint http://localhost:8080',
    load: async () => (await import('../run/init.ts')).runInit,
  },
  {
    path: ['metadata', 'apply'],
    summary: 'apply the metadata of the project to the service',
    details:
      'Sends nothing if the service already has this metadata. Rejects inconsistent objects with their file and line and exits with 4, unless --allow-inconsistent is set. Sends the resource version that was read, and reports a conflict if the metadata has changed since.',
    options: [
      { flags: '--dry-run', help: 'list the changes without applying them' },
      ALLOW_INCONSISTENT,
      { flags: '--disallow-inconsistent-metadata', help: 'the default; accepted so that existing scripts keep working' },
      OUTPUT,
      { flags: '--watch', help: 'apply again whenever a metadata file changes, until interrupted' },
    ],
    needs: 'service',
    example: 'svc metadata apply --json',
    load: async () => (await import('../run/metadata.ts')).runApply,
  },
  {
    path: ['metadata', 'export'],
    summary: 'write the metadata of the service to the files of the project',
    details:
      'Preserves comments, order and includes of unchanged objects, leaves up-to-date files alone, and removes the files of dropped objects. With --output, prints the metadata and writes no file.',
    options: [
      OUTPUT,
      { flags: '--check', help: 'write nothing; exit with 3 if files would change' },
      { flags: '--prune', help: 'remove files of the metadata folder that are not included anywhere' },
    ],
    needs: 'service',
    example: 'svc metadata export',
    load: async () => (await import('../run/metadata.ts')).runExport,
  },
  {
    path: ['metadata', 'diff'],
    summary: 'compare metadata object by object',
    details:
      'Without arguments, compares the service with the project: the changes that svc metadata apply would make. With one argument, compares the service with that project or file; with two, the second with the first.',
    arguments: [
      { name: 'to', help: 'new state: a project folder, or a .json or .yaml metadata file' },
      { name: 'from', help: 'old state, in place of the service' },
    ],
    options: [
      {
        flags: '--type <form>',
        help: 'format of the differences',
        choices: ['objects', 'json', 'yaml', 'unified-json', 'unified-yaml'],
        default: 'objects',
      },
      EXIT_CODE,
    ],
    needs: 'sometimes a service',
    example: 'svc metadata diff --exit-code',
    load: async () => (await import('../run/metadata.ts')).runDiff,
  },
  {
    path: ['metadata', 'reload'],
    summary: 'make the service read its databases and remote schemas again',
    options: [
      { flags: '--source <name>', help: 'only this source', many: true },
      { flags: '--remote-schema <name>', help: 'only this remote schema', many: true },
      { flags: '--recreate-event-triggers', help: 'create the database triggers of event triggers again' },
    ],
    needs: 'service',
    example: 'svc metadata reload --source default',
    load: async () => (await import('../run/metadata.ts')).runReload,
  },
  {
    path: ['metadata', 'clear'],
    aliases: ['reset'],
    summary: 'remove all metadata of the service; does not change the databases',
    options: [],
    needs: 'service',
    example: 'svc metadata clear --yes',
    load: async () => (await import('../run/metadata.ts')).runClear,
  },
  {
    path: ['metadata', 'build'],
    summary: 'print the files of the project as one metadata document',
    options: [{ ...OUTPUT, default: 'json' }],
    needs: 'files',
    example: 'svc metadata build > metadata.json',
    load: async () => (await import('../run/metadata.ts')).runBuild,
  },
  {
    path: ['metadata', 'lint'],
    summary: 'check the metadata files of the project for mistakes',
    details:
      'Checks the structure, includes, unknown keys, files that are not included, file names that differ only in case, secrets in plain text, and suspicious permissions. Exits with 1 if there are errors; findings that may be intended are warnings. The comment `# svc-lint-accept: <rule> <reason>` above the cause of a warning accepts it.',
    options: [failOn(), VERBOSE],
    needs: 'files',
    example: 'svc metadata lint',
    load: async () => (await import('../run/metadata.ts')).runLint,
  },
  {
    path: ['metadata', 'inconsistency', 'list'],
    aliases: ['ls'],
    summary: 'list inconsistent objects with file and line',
    options: [EXIT_CODE],
    needs: 'service',
    example: 'svc metadata inconsistency list',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyList,
  },
  {
    path: ['metadata', 'inconsistency', 'status'],
    summary: 'check whether the metadata is consistent; exits with 4 if not',
    options: [],
    needs: 'service',
    example: 'svc metadata inconsistency status',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyStatus,
  },
  {
    path: ['metadata', 'inconsistency', 'drop'],
    summary: 'remove inconsistent objects from the metadata of the service',
    options: [],
    needs: 'service',
    example: 'svc metadata inconsistency drop --yes',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyDrop,
  },
];
