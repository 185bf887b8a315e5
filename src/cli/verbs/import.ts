import type { Verb } from './verb.ts';

export const importVerbs: readonly Verb[] = [
  {
    path: ['import'],
    summary: 'convert a project of Hasura GraphQL Engine v2',
    details:
      'Converts offline and does not change the input: a project directory of any version of the Hasura CLI, or a metadata file. The report lists each key of the input as same, renamed, ignored, needing work by you, or unsupported; unsupported parts are copied to unsupported/. Exits with 3 until every entry that is unsupported or needs work by you is accepted with --accept. The same input always gives the same files.',
    arguments: [{ name: 'dir', help: 'project directory or metadata file; not with --from-server' }],
    options: [
      { flags: '--out <dir>', help: 'folder of the new project. Default: the name of the input directory with the suffix -svc' },
      { flags: '--report <file>', help: 'write the report to this file, as JSON' },
      { flags: '--accept <id>', help: 'accept this entry of the report: its id, or bucket:id', many: true },
      { flags: '--from-server <url>', help: 'read the metadata from a running Hasura service; its admin secret is --source-secret' },
      {
        flags: '--state-from <url>',
        help: 'URL of the Hasura service, or postgres:// URL of its metadata database. After the import, migrations that are applied there are marked as applied here',
      },
      { flags: '--source-secret <secret>', help: 'admin secret of the Hasura service; also HASURA_GRAPHQL_ADMIN_SECRET' },
      { flags: '--env-file <file>', help: 'only print this .env or compose file, converted for this service' },
      { flags: '--cutover', help: 'only print the steps of a cutover to this service, in order' },
    ],
    needs: 'sometimes a service',
    example: 'svc import ../old-project --out my-api --report report.json',
    load: async () => (await import('../run/import.ts')).runImport,
  },
];
