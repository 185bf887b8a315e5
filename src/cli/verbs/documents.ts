import { ALLOW_INCONSISTENT, EXIT_CODE } from './common.ts';
import type { Verb, VerbArgument, VerbGroup, VerbOption } from './verb.ts';

export const documentGroups: readonly VerbGroup[] = [{ name: 'documents', summary: 'trusted documents of clients' }];

const MANIFESTS: VerbArgument = {
  name: 'manifest',
  help: 'JSON file that the compiler of a client has written: Apollo, Relay or GraphQL Code Generator',
  required: true,
  many: true,
};
const COLLECTION: VerbOption = { flags: '--collection <name>', help: 'query collection of the documents', mandatory: true };
const TRUST_IDS: VerbOption = {
  flags: '--trust-ids',
  help: 'do not compare ids of 32, 40 and 64 hexadecimal digits with the md5, sha1 and sha256 of the texts',
};
const DRY_RUN: VerbOption = { flags: '--dry-run', help: 'change nothing' };

export const documentVerbs: readonly Verb[] = [
  {
    path: ['documents', 'push'],
    summary: 'add the documents of manifests to a query collection of the service',
    details:
      'Creates the collection if it does not exist, and with --roles or --global adds it to the allow-list. Texts are stored byte by byte, under the ids of the manifest. An id never changes its text. Exits with 4 if a document is invalid for administrators or for a role of the scope, unless --allow-inconsistent is set. Documents are sent in requests of up to 5,000; if one of them fails, those before it are stored. Run it before you deploy the client.',
    arguments: [MANIFESTS],
    options: [
      COLLECTION,
      { flags: '--roles <roles>', help: 'comma-separated list of roles that may run the documents, if the collection is not listed yet' },
      { flags: '--global', help: 'all roles may run the documents, if the collection is not listed yet' },
      TRUST_IDS,
      { ...ALLOW_INCONSISTENT, help: 'store documents even if they are invalid' },
      DRY_RUN,
    ],
    needs: 'service',
    example: 'svc documents push persisted-documents.json --collection web --roles user',
    load: async () => (await import('../run/documents.ts')).runDocumentsPush,
  },
  {
    path: ['documents', 'diff'],
    summary: 'compare manifests with a query collection of the service',
    details:
      'Lists new documents with +, those that are in no manifest with -, and invalid ones with !, the role and the reason. Fails if an id has another text in the service.',
    arguments: [MANIFESTS],
    options: [COLLECTION, TRUST_IDS, EXIT_CODE],
    needs: 'service',
    example: 'svc documents diff persisted-documents.json --collection web --exit-code',
    load: async () => (await import('../run/documents.ts')).runDocumentsDiff,
  },
  {
    path: ['documents', 'prune'],
    summary: 'remove documents from a query collection that are in none of the manifests',
    details:
      'Keeps documents that REST endpoints use. Pass the manifests of all clients that are still in use, also of old versions: their documents stop working otherwise.',
    options: [
      COLLECTION,
      { flags: '--keep <manifest>', help: 'manifest whose documents stay', many: true, mandatory: true },
      TRUST_IDS,
      DRY_RUN,
    ],
    needs: 'service',
    example: 'svc documents prune --collection web --keep v41.json --keep v42.json',
    load: async () => (await import('../run/documents.ts')).runDocumentsPrune,
  },
];
