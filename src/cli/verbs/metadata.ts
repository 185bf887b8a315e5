import { ALLOW_INCONSISTENT, EXIT_CODE, failOn } from './common.ts';
import type { Verb, VerbGroup } from './verb.ts';

export const metadataGroups: readonly VerbGroup[] = [
  { name: 'metadata', aliases: ['md'], summary: 'the metadata of the project and of the service' },
  { name: 'metadata inconsistency', aliases: ['ic'], summary: 'what of the metadata does not fit the databases' },
];

const OUTPUT = { flags: '-o, --output <format>', help: 'form of the document', choices: ['json', 'yaml'] } as const;

export const metadataVerbs: readonly Verb[] = [
  {
    path: ['init'],
    summary: 'make a project',
    details:
      'Writes config.yaml, .gitignore and empty metadata, migrations and seeds. With --from, the metadata of a running service is written too. A secret is never written; keep it in .env.',
    arguments: [{ name: 'dir', help: 'folder of the project, the working directory when absent' }],
    options: [{ flags: '--from <url>', help: 'a running service whose metadata is written' }],
    needs: 'sometimes a service',
    example: 'svc init my-api --endpoint http://localhost:8080',
    load: async () => (await import('../run/init.ts')).runInit,
  },
  {
    path: ['metadata', 'apply'],
    summary: 'make the metadata of the project that of the service',
    details:
      'Sends nothing when the service has it already. What is inconsistent is refused with its file and line (exit 4), unless that is allowed. The version that was seen goes along: who was faster in between is told.',
    options: [
      { flags: '--dry-run', help: 'tell what would change, and change nothing' },
      ALLOW_INCONSISTENT,
      { flags: '--disallow-inconsistent-metadata', help: 'what holds anyhow; taken for scripts that have it' },
      OUTPUT,
      { flags: '--watch', help: 'apply again whenever a file of the metadata changes, until interrupted' },
    ],
    needs: 'service',
    example: 'svc metadata apply --json',
    load: async () => (await import('../run/metadata.ts')).runApply,
  },
  {
    path: ['metadata', 'export'],
    summary: 'write the metadata of the service to the files of the project',
    details:
      'Keeps comments, order and includes of what has not changed; does not touch files that say it already; removes the files of dropped objects. With --output it is printed and no file is touched.',
    options: [
      OUTPUT,
      { flags: '--check', help: 'write nothing, and end with 3 where files would change' },
      { flags: '--prune', help: 'remove files of the metadata folder that nothing includes' },
    ],
    needs: 'service',
    example: 'svc metadata export',
    load: async () => (await import('../run/metadata.ts')).runExport,
  },
  {
    path: ['metadata', 'diff'],
    summary: 'compare metadata object by object',
    details:
      'Without arguments from the service to the project: what metadata apply would change. With one, from the service to that project or file; with two, from the second to the first.',
    arguments: [
      { name: 'to', help: 'folder of a project, or a .json or .yaml file with a document' },
      { name: 'from', help: 'another, in place of the service' },
    ],
    options: [
      {
        flags: '--type <form>',
        help: 'form of the differences',
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
    summary: 'let the service read its databases and remote schemas again',
    options: [
      { flags: '--source <name>', help: 'only this source', many: true },
      { flags: '--remote-schema <name>', help: 'only this remote schema', many: true },
      { flags: '--recreate-event-triggers', help: 'make anew what event triggers have in their databases' },
    ],
    needs: 'service',
    example: 'svc metadata reload --source default',
    load: async () => (await import('../run/metadata.ts')).runReload,
  },
  {
    path: ['metadata', 'clear'],
    aliases: ['reset'],
    summary: 'remove all metadata of the service; the databases stay as they are',
    options: [],
    needs: 'service',
    example: 'svc metadata clear --yes',
    load: async () => (await import('../run/metadata.ts')).runClear,
  },
  {
    path: ['metadata', 'build'],
    summary: 'print the document that the files of the project make',
    options: [{ ...OUTPUT, default: 'json' }],
    needs: 'files',
    example: 'svc metadata build > metadata.json',
    load: async () => (await import('../run/metadata.ts')).runBuild,
  },
  {
    path: ['metadata', 'lint'],
    summary: 'look for mistakes in the files of the project',
    details:
      'Shape, includes, unknown keys, files that nothing includes, names of files that differ in case only, secrets in plain text, and permissions that look wrong. Ends with 1 where there are errors; what may be meant so is a warning.',
    options: [failOn()],
    needs: 'files',
    example: 'svc metadata lint',
    load: async () => (await import('../run/metadata.ts')).runLint,
  },
  {
    path: ['metadata', 'inconsistency', 'list'],
    aliases: ['ls'],
    summary: 'list what is inconsistent, with file and line',
    options: [EXIT_CODE],
    needs: 'service',
    example: 'svc metadata inconsistency list',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyList,
  },
  {
    path: ['metadata', 'inconsistency', 'status'],
    summary: 'tell whether the metadata is consistent; ends with 4 when it is not',
    options: [],
    needs: 'service',
    example: 'svc metadata inconsistency status',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyStatus,
  },
  {
    path: ['metadata', 'inconsistency', 'drop'],
    summary: 'remove from the metadata of the service what is inconsistent',
    options: [],
    needs: 'service',
    example: 'svc metadata inconsistency drop --yes',
    load: async () => (await import('../run/metadata.ts')).runInconsistencyDrop,
  },
];
