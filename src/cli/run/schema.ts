/** `svc schema`: the GraphQL schema of a role, or the part of it that documents use. */
import { dirname, resolve } from 'node:path';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { DEFAULT_INPUT_DEPTH, MAX_INPUT_DEPTH } from '../../graphql-engine/schema-cut/cut-schema.ts';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { errorsIn, EXIT, failure, printProblem, type Problem, ProjectFailure } from '../../project/failure.ts';
import { invalidDocuments, readDocuments, unknownDirectives } from '../../project/role-schema/documents.ts';
import { introspectionOf, clientSchema, sdlOf } from '../../project/role-schema/print-schema.ts';
import type { SchemaReader } from '../../project/role-schema/schema-reader.ts';
import { type CommandContext, type CommandOutcome, flagOption, listOption, textOption } from '../context.ts';
import { requireKnown } from './known-names.ts';
import { type SchemaOrigin, schemaOrigin } from './schema-origin.ts';

/** `svc schema` */
export async function runSchema(context: CommandContext): Promise<CommandOutcome> {
  const role = textOption(context, 'role') as string;
  const output = textOption(context, 'output');
  const path = output === undefined ? undefined : resolve(context.cwd, output);
  const patterns = listOption(context, 'documents');
  const depth = inputDepth(context, patterns.length > 0);
  const documents = patterns.length === 0 ? undefined : await readDocuments(context.cwd, patterns, path);
  const origin = await schemaOrigin(context, {
    role,
    backendOnly: flagOption(context, 'backendOnly'),
    api: flagOption(context, 'relay') ? 'relay' : 'graphql',
  });
  checkConsistency(context, origin.problems);
  const { reader } = origin;
  await checkRole(reader, role, origin);
  const schema = documents === undefined ? clientSchema(await reader.whole()) : await partFor(context, reader, documents, depth);
  const isSdl = textOption(context, 'format') === 'sdl';
  const text = isSdl ? sdlOf(schema) : `${indented(introspectionOf(schema))}\n`;
  if (path === undefined) return { text, data: { role, schema: isSdl ? text : introspectionOf(schema) } };
  const isUnchanged = readNamedFile(context.cwd, path) === text;
  // Tools that watch the file do not start for nothing.
  if (!isUnchanged) applyChanges(projectFiles(dirname(path)), new Map([[path, text]]));
  return { text: `${isUnchanged ? 'unchanged' : 'written'} ${output}`, data: { role, written: isUnchanged ? [] : [path] } };
}

/** @throws ProjectFailure */
function inputDepth(context: CommandContext, hasDocuments: boolean): number {
  const text = textOption(context, 'inputDepth');
  if (text === undefined) return DEFAULT_INPUT_DEPTH;
  if (!hasDocuments) throw failure('usage', '--input-depth needs --documents: a whole schema has all levels', {}, EXIT.usage);
  if (!/^\d{1,3}$/.test(text) || Number(text) > MAX_INPUT_DEPTH)
    throw failure('usage', `--input-depth must be a whole number from 0 to ${MAX_INPUT_DEPTH}, not "${text}"`, {}, EXIT.usage);
  return Number(text);
}

/** @throws ProjectFailure */
function checkConsistency(context: CommandContext, problems: readonly Problem[]): void {
  if (errorsIn(problems).length > 0 && !flagOption(context, 'allowInconsistent')) throw new ProjectFailure(problems, EXIT.inconsistent);
  for (const problem of problems) context.warn(printProblem(problem));
}

/** @throws ProjectFailure for a role whose schema is empty, as that of an unknown role is */
async function checkRole(reader: SchemaReader, role: string, { roles }: SchemaOrigin): Promise<void> {
  if (!(await reader.isEmpty())) return;
  requireKnown('role', role, await roles());
  throw failure('no-permissions', `the role "${role}" has no permissions, so its schema is empty`, {}, EXIT.usage);
}

/** @throws ProjectFailure if a document is not valid */
async function partFor(
  context: CommandContext,
  reader: SchemaReader,
  documents: readonly DocumentNode[],
  depth: number,
): Promise<GraphQLSchema> {
  const { cut, forValidation } = await reader.cut(documents, depth);
  const schema = clientSchema(cut);
  if (invalidDocuments(schema, documents).length > 0)
    throw new ProjectFailure(invalidDocuments(clientSchema(await forValidation()), documents));
  for (const problem of unknownDirectives(schema, documents))
    context.warn(`${printProblem(problem)} The service rejects it, unless the client removes it from requests`);
  return schema;
}
