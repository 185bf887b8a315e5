/** `svc init` */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { applyChanges, type Files, projectFiles } from '../../project/directory/files.ts';
import { SOURCES_FILE } from '../../project/directory/sections.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { DEFAULT_SOURCE } from '../../metadata/source.ts';
import { newSource } from '../../project/new-source.ts';
import { CONFIG_FILE, DEFAULT_ENDPOINT, openProject, type Settings } from '../../project/project.ts';
import { exportFrom } from '../../project/project-metadata.ts';
import { serverClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';
import {
  configText,
  ENVIRONMENT_EXAMPLE,
  environmentText,
  type NewProject,
  nextSteps,
  PERMISSION_TESTS,
  readmeText,
  withHeader,
} from './new-project.ts';

const IGNORED = ['.env', '.env.*', '!.env.example', '.svc/'];
/** Size of the generated admin secret, in bytes. */
const SECRET_BYTES = 24;

export async function runInit(context: CommandContext): Promise<CommandOutcome> {
  const root = resolve(context.cwd, context.args[0] ?? '.');
  const files = projectFiles(root);
  if (existsSync(join(root, CONFIG_FILE)))
    throw failure('exists', `there already is a project in ${root}`, { file: CONFIG_FILE }, EXIT.usage);
  const from = textOption(context, 'from');
  const endpoint = from ?? textOption(context, 'endpoint') ?? DEFAULT_ENDPOINT;
  const { settings, warnings } = openProject(
    context.cwd,
    { project: root, endpoint, adminSecret: textOption(context, 'adminSecret') },
    context.environment,
    false,
  );
  for (const warning of warnings) context.warn(warning);
  const kinds = await context.kinds();
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
  };
  const changes = new Map([...ownFiles(files, made), ...metadataFiles(files, document, made)]);
  if (makesSecret) changes.set(environmentFile, environmentText(randomBytes(SECRET_BYTES).toString('base64url')));
  applyChanges(files, changes);
  if (makesSecret) chmodSync(environmentFile, 0o600);
  const written = [...changes.keys()].map((path) => files.show(path));
  const text = `created a project in ${root}: ${counted(written.length, 'file')}. Next:\n${nextSteps(made)}`;
  return { text, data: { root, written } };
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
function metadataFiles(files: Files, document: JsonObject, { isCopy }: NewProject): ReadonlyMap<string, string | null> {
  const folder = join(files.root, 'metadata');
  if (!isCopy && files.read(join(folder, SOURCES_FILE)) !== undefined) return new Map();
  const { changes } = writeMetadata({ files, folder }, document);
  return new Map(
    [...changes].map(([path, text]) => {
      if (text === null || files.read(path) !== undefined) return [path, text];
      return [path, withHeader(relative(folder, path).split(sep).join('/'), text)];
    }),
  );
}
