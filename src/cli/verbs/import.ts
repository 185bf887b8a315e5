import type { Verb } from './verb.ts';

export const importVerbs: readonly Verb[] = [
  {
    path: ['import'],
    summary: 'make a project of one of Hasura GraphQL Engine v2',
    details:
      'Translates offline and changes nothing of the input: a directory of any version of its command line, or a file with a document. Each key of the input is the same here, renamed, ignored because it means nothing, needs something of you, or is not supported and kept verbatim under unsupported/. Ends with 3 while something is unsupported or needs you and is not accepted. The same input gives the same files.',
    arguments: [{ name: 'dir', help: 'the directory or file; not with --from-server' }],
    options: [
      { flags: '--out <dir>', help: 'the new project; else the name of the directory with -svc behind it' },
      { flags: '--report <file>', help: 'write the report as JSON' },
      { flags: '--accept <id>', help: 'write down that this entry of the report is known: its id, or bucket:id', many: true },
      { flags: '--from-server <url>', help: 'take the metadata of a running service of the other engine; its secret in --source-secret' },
      {
        flags: '--state-from <url>',
        help: 'after the import, write down in the databases of this service the migrations that the other one says were applied: the address of that service, or the postgres:// URL of its metadata database',
      },
      { flags: '--source-secret <secret>', help: 'admin secret of the other service; also HASURA_GRAPHQL_ADMIN_SECRET' },
      { flags: '--env-file <file>', help: 'print this environment file, or compose file, for this service, and do nothing else' },
      { flags: '--cutover', help: 'print what to do when this service takes over, in its order, and do nothing else' },
    ],
    needs: 'sometimes a service',
    example: 'svc import ../old-project --out my-api --report report.json',
    load: async () => (await import('../run/import.ts')).runImport,
  },
];
