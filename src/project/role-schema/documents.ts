/** GraphQL documents of a client: read from files and code, and validated against the schema of a role. */
import { resolve } from 'node:path';
import {
  type DocumentNode,
  getLocation,
  GraphQLError,
  type GraphQLSchema,
  isExecutableDefinitionNode,
  Kind,
  KnownDirectivesRule,
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  parse,
  Source,
  specifiedRules,
  validate,
} from 'graphql';
import { glob } from 'tinyglobby';
import { readNamedFile } from '../directory/files.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../failure.ts';
import { documentsInCode } from './code-documents.ts';

/** Maximum number of files. */
const MAX_FILES = 20_000;
/** Maximum number of tokens of a file. */
const MAX_TOKENS = 1_000_000;
const IGNORED = ['**/node_modules/**', '**/.git/**'];
const EXTENSION = /\.(?:graphql|graphqls|gql)$/i;
const CODE = /\.(?:[cm]?[jt]s|[jt]sx)$/i;
const NONE: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/**
 * Reads and parses the files that match the patterns.
 * @param except absolute path of a file to leave out
 * @throws ProjectFailure if a pattern matches no file, a file cannot be parsed, or none has an operation or fragment
 */
export async function readDocuments(cwd: string, patterns: readonly string[], except?: string): Promise<readonly DocumentNode[]> {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const found = await glob(pattern, { cwd, ignore: IGNORED, onlyFiles: true, dot: false });
    const chosen = found.filter((file) => resolve(cwd, file) !== except);
    if (chosen.length === 0) throw failure('documents', `no file matches --documents ${JSON.stringify(pattern)} in ${cwd}`, {}, EXIT.usage);
    for (const file of chosen) files.add(file);
    if (files.size > MAX_FILES)
      throw failure('documents', `--documents matches more than ${MAX_FILES} files: narrow the pattern`, {}, EXIT.usage);
  }
  const problems: Problem[] = [];
  const documents = [...files].sort().map((file) => parsed(file, readNamedFile(cwd, file) ?? '', problems));
  if (problems.length > 0) throw new ProjectFailure(problems);
  if (documents.every(({ definitions }) => definitions.length === 0))
    throw failure(
      'documents',
      `the files that match --documents have no operation: in code, write it as gql\`…\` or graphql(\`…\`)`,
      {},
      EXIT.usage,
    );
  return documents;
}

function parsed(file: string, content: string, problems: Problem[]): DocumentNode {
  const report = (message: string, place: Pick<Problem, 'line' | 'column'> = {}) =>
    void problems.push({ code: 'documents', message, file, ...place });
  let text = content;
  if (CODE.test(file)) {
    const found = documentsInCode(content);
    for (const { message, start } of found.problems) report(message, placeOf(new Source(content), start));
    if (found.problems.length > 0 || found.text.trim() === '') return NONE;
    text = found.text;
  } else if (!EXTENSION.test(file)) {
    report(
      'this is neither a GraphQL file nor code: --documents takes .graphql, .graphqls and .gql files, and .ts, .tsx, .js and .jsx files with templates. Narrow the pattern',
    );
    return NONE;
  }
  try {
    const document = parse(new Source(text, file), { maxTokens: MAX_TOKENS });
    const other = document.definitions.find((definition) => !isExecutableDefinitionNode(definition));
    if (other === undefined) return document;
    report(
      'the file defines types: --documents takes operations and fragments only. Narrow the pattern so that it leaves out schemas',
      other.loc === undefined ? {} : placeOf(other.loc.source, other.loc.start),
    );
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    problems.push(problemOf(thrown));
  }
  return NONE;
}

function placeOf(source: Source, start: number): Pick<Problem, 'line' | 'column'> {
  return getLocation(source, start);
}

function problemOf(error: GraphQLError): Problem {
  const source = error.source ?? error.nodes?.[0]?.loc?.source;
  const [start] = error.positions ?? [];
  return {
    code: 'documents',
    message: error.message,
    ...(source === undefined ? {} : { file: source.name, ...(start === undefined ? {} : placeOf(source, start)) }),
  };
}

/** Files together are one document: fragments are used across files, or in none yet. Clients use directives that they do not send. */
const RULES = specifiedRules.filter(
  (rule) => rule !== LoneAnonymousOperationRule && rule !== NoUnusedFragmentsRule && rule !== KnownDirectivesRule,
);

/** Returns the errors of documents that are used together. */
export function invalidDocuments(schema: GraphQLSchema, documents: readonly DocumentNode[]): readonly Problem[] {
  return validate(schema, joined(documents), RULES).map(problemOf);
}

/** Returns the directives that the service does not know, and rejects unless the client removes them. */
export function unknownDirectives(schema: GraphQLSchema, documents: readonly DocumentNode[]): readonly Problem[] {
  return validate(schema, joined(documents), [KnownDirectivesRule]).map(problemOf);
}

function joined(documents: readonly DocumentNode[]): DocumentNode {
  return { kind: Kind.DOCUMENT, definitions: documents.flatMap(({ definitions }) => definitions) };
}
