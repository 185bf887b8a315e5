/** `svc init` */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Document } from 'yaml';
import { applyChanges, projectFiles } from '../../project/directory/files.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { CONFIG_FILE, openProject } from '../../project/project.ts';
import { exportFrom } from '../../project/project-metadata.ts';
import { serverClient } from '../../project/server-client.ts';
import type { JsonObject } from '../../util/json.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';

const IGNORED = ['.env', '.env.*', '!.env.example', '.svc/'];

export async function runInit(context: CommandContext): Promise<CommandOutcome> {
  const root = resolve(context.cwd, context.args[0] ?? '.');
  const files = projectFiles(root);
  if (existsSync(join(root, CONFIG_FILE)))
    throw failure('exists', `there already is a project in ${root}`, { file: CONFIG_FILE }, EXIT.usage);
  const from = textOption(context, 'from');
  const endpoint = from ?? textOption(context, 'endpoint') ?? 'http://localhost:8080';
  const { settings, warnings } = openProject(
    context.cwd,
    { project: root, endpoint, adminSecret: textOption(context, 'adminSecret') },
    context.environment,
    false,
  );
  for (const warning of warnings) context.warn(warning);
  let document: JsonObject = { version: 3, sources: [] };
  if (from !== undefined) {
    const server = serverClient({ ...settings, endpointOrigin: '--from' });
    try {
      document = (await exportFrom(server)).metadata;
    } finally {
      await server.close();
    }
  }
  const config = new Document({
    version: 3,
    endpoint: settings.endpoint,
    metadata_directory: 'metadata',
    migrations_directory: 'migrations',
    seeds_directory: 'seeds',
  });
  const ignore = files.read(join(root, '.gitignore'));
  const missing = IGNORED.filter((line) => !(ignore ?? '').split('\n').includes(line));
  const changes = new Map<string, string | null>([
    [join(root, CONFIG_FILE), String(config)],
    ...(missing.length === 0
      ? []
      : [[join(root, '.gitignore'), `${ignore === undefined ? '' : `${ignore.replace(/\n?$/, '\n')}`}${missing.join('\n')}\n`] as const]),
    [join(root, 'migrations', '.gitkeep'), ''],
    [join(root, 'seeds', '.gitkeep'), ''],
    ...writeMetadata({ files, folder: join(root, 'metadata') }, document).changes,
  ]);
  applyChanges(files, changes);
  const written = [...changes.keys()].map((path) => files.show(path));
  return { text: `created a project in ${root}: ${counted(written.length, 'file')}`, data: { root, written } };
}
