/** `svc init` */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { applyChanges, type Files, projectFiles } from '../../project/directory/files.ts';
import { SOURCES_FILE } from '../../project/directory/sections.ts';
import { indented, writeMetadata } from '../../project/directory/write-metadata.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { DEFAULT_SOURCE } from '../../metadata/source.ts';
import type { Backend } from '../../backend/backend.ts';
import type { KindCodecs, Kinds } from '../../metadata/kinds.ts';
import { sourcesOf } from '../../migrations/sources.ts';
import { newSource } from '../../project/new-source.ts';
import { CONFIG_FILE, DEFAULT_ENDPOINT, openProject, type Settings } from '../../project/project.ts';
import { projectSchemas, schemaOfFile, SCHEMAS_FOLDER } from '../../project/project-schemas.ts';
import { exportFrom } from '../../project/project-metadata.ts';
import { serverClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, flagOption, textOption } from '../context.ts';
import {
  configText,
  ENVIRONMENT_EXAMPLE,
  environmentText,
  type NewProject,
  nextSteps,
  PERMISSION_TESTS,
  readmeText,
  schemaLine,
  withHeader,
  withSecret,
} from './new-project.ts';

const IGNORED = ['.env', '.env.*', '!.env.example', '.svc/', 'plan.json'];
/** Size of the generated admin secret, in bytes. */
const SECRET_BYTES = 24;

export async function runInit(context: CommandContext): Promise<CommandOutcome> {
  const root = resolve(context.cwd, context.args[0] ?? '.');
  const files = projectFiles(root);
  const kinds = await context.kinds();
  if (flagOption(context, 'schemas')) return renewSchemas(context, kinds);
  if (existsSync(join(root, CONFIG_FILE))) return completed(context, files);
  const from = textOption(context, 'from');
  const endpoint = from ?? textOption(context, 'endpoint') ?? DEFAULT_ENDPOINT;
  const { settings, warnings } = openProject(
    context.cwd,
    { project: root, endpoint, adminSecret: textOption(context, 'adminSecret') },
    context.environment,
    false,
  );
  for (const warning of warnings) context.warn(warning);
  const document = from === undefined ? { version: 3, sources: [newSource(DEFAULT_SOURCE, kinds)] } : await exported(settings);
  const environmentFile = join(root, '.env');
  // A secret of the shell, or an existing file, takes precedence.
  const makesSecret = from === undefined && settings.adminSecret === null && files.read(environmentFile) === undefined;
  const made: NewProject = {
    name: basename(root),
    endpoint: settings.endpoint,
    isCopy: from !== undefined,
    folder: relative(context.cwd, root) || '.',
    hasSecret: makesSecret || textOption(context, 'adminSecret') === undefined,
    hasEnvironment: files.read(environmentFile) !== undefined,
  };
  const changes = new Map([...ownFiles(files, made), ...schemaFiles(root, kinds), ...metadataFiles(files, document, made, kinds)]);
  applyChanges(files, changes);
  if (makesSecret) {
    writeFileSync(environmentFile, environmentText(newSecret()), { mode: 0o600, flag: 'wx' });
  }
  const written = [...changes.keys(), ...(makesSecret ? [environmentFile] : [])].map((path) => files.show(path));
  const text = `created a project in ${root}: ${counted(written.length, 'file')}. Next:\n${nextSteps(made)}`;
  return { text, data: { root, written } };
}

/** Makes the `.env` of a project that was cloned without it. @throws ProjectFailure if nothing is missing */
function completed(context: CommandContext, files: Files): CommandOutcome {
  const { root } = files;
  const example = files.read(join(root, '.env.example'));
  const isPlain = ['from', 'endpoint', 'adminSecret'].every((option) => textOption(context, option) === undefined);
  if (!isPlain || example === undefined || files.read(join(root, '.env')) !== undefined)
    throw failure('exists', `there already is a project in ${root}`, { file: CONFIG_FILE }, EXIT.usage);
  const text = withSecret(example, newSecret());
  writeFileSync(join(root, '.env'), text, { mode: 0o600, flag: 'wx' });
  const secret = text === example ? 'which names no admin secret' : 'with a new admin secret';
  return { text: `made .env out of .env.example, ${secret}. Next: svc dev`, data: { root, written: ['.env'] } };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Writes the schemas of this version into an existing project. @throws ProjectFailure */
async function renewSchemas(context: CommandContext, kinds: Kinds<KindCodecs>): Promise<CommandOutcome> {
  if (textOption(context, 'from') !== undefined) throw failure('usage', '--schemas and --from exclude each other', {}, EXIT.usage);
  const { root, files } = openProject(context.cwd, { project: context.args[0] }, context.environment);
  const changes = new Map([...schemaFiles(root, kinds)].filter(([path, text]) => files.read(path) !== text));
  applyChanges(files, changes);
  const written = [...changes.keys()].map((path) => files.show(path));
  const text = written.length === 0 ? `${SCHEMAS_FOLDER} is up to date` : `renewed ${counted(written.length, 'file')} in ${SCHEMAS_FOLDER}`;
  return { text, data: { root, written } };
}

function schemaFiles(root: string, kinds: Kinds<KindCodecs>): ReadonlyMap<string, string> {
  return new Map([...projectSchemas(kinds)].map(([name, schema]) => [join(root, SCHEMAS_FOLDER, name), `${indented(schema)}\n`]));
}

async function exported(settings: Settings): Promise<JsonObject> {
  const server = serverClient({ ...settings, endpointOrigin: '--from' });
  try {
    return (await exportFrom(server)).metadata;
  } finally {
    await server.close();
  }
}

/** Returns all files except the metadata; existing ones are kept. */
function ownFiles(files: Files, made: NewProject): ReadonlyMap<string, string> {
  const texts: readonly (readonly [string, string])[] = [
    [CONFIG_FILE, configText(made.endpoint)],
    ['README.md', readmeText(made)],
    ['.env.example', ENVIRONMENT_EXAMPLE],
    ['migrations/.gitkeep', ''],
    ['seeds/.gitkeep', ''],
    ['tests/permissions/reader.yaml', PERMISSION_TESTS],
  ];
  const added = texts.map(([path, text]) => [join(files.root, path), text] as const).filter(([path]) => files.read(path) === undefined);
  const ignoreFile = join(files.root, '.gitignore');
  const ignore = files.read(ignoreFile) ?? '';
  const missing = IGNORED.filter((line) => !ignore.split('\n').includes(line));
  if (missing.length === 0) return new Map(added);
  const before = ignore === '' ? '' : ignore.replace(/\n?$/, '\n');
  return new Map([...added, [ignoreFile, `${before}${missing.join('\n')}\n`]]);
}

/** Returns the metadata files with their comments. Without `--from`, existing metadata is kept. */
function metadataFiles(
  files: Files,
  document: JsonObject,
  { isCopy }: NewProject,
  kinds: Kinds<Backend>,
): ReadonlyMap<string, string | null> {
  const folder = join(files.root, 'metadata');
  if (!isCopy && files.read(join(folder, SOURCES_FILE)) !== undefined) return new Map();
  const { changes } = writeMetadata({ files, folder }, document);
  const kindOf = new Map(sourcesOf(document, kinds).map(({ name, kind }) => [name, kind]));
  return new Map(
    [...changes].map(([path, text]) => {
      if (text === null || files.read(path) !== undefined) return [path, text];
      const file = relative(folder, path).split(sep).join('/');
      const schema = schemaOfFile(file, (source) => kindOf.get(source));
      return [path, `${schema === undefined ? '' : schemaLine(`metadata/${file}`, schema)}${withHeader(file, text)}`];
    }),
  );
}
