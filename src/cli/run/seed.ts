/** The commands of `svc seed`. */
import { join } from 'node:path';
import { applyChanges, readNamedFile } from '../../project/directory/files.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { dumpTable, readSeeds, runSeeds } from '../../migrations/seeds.ts';
import { chosenSources, oneFolder, serverSources } from '../../migrations/sources.ts';
import type { JsonObject } from '../../util/json.ts';
import { type CommandContext, flagOption, listOption, type CommandOutcome, textOption } from '../context.ts';
import { fileName, projectSources } from './migrate-files.ts';
import { runOptions } from './run-options.ts';

/** `svc seed create` */
export async function runSeedCreate(context: CommandContext): Promise<CommandOutcome> {
  const project = await context.project();
  const tables = listOption(context, 'fromTable');
  const name = oneFolder(project, project.seedsFolder, textOption(context, 'databaseName'), projectSources(project) ?? []);
  const file = textOption(context, 'sqlFromFile');
  let sql = '';
  if (file !== undefined) {
    const read = readNamedFile(context.cwd, file);
    if (read === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
    sql = read;
  }
  if (flagOption(context, 'upsert') && tables.length === 0) throw failure('usage', '--upsert needs --from-table', {}, EXIT.usage);
  if (tables.length > 0) {
    const server = await context.server();
    const source = (await serverSources(server, await context.kinds())).find((each) => each.name === name);
    if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
    for (const table of tables) sql += await dumpTable(server, source, table, flagOption(context, 'upsert'));
  }
  const path = join(project.seedsFolder, name, `${Date.now()}_${fileName(context.args[0] as string)}.sql`);
  applyChanges(project.files, new Map([[path, sql]]));
  return { text: project.files.show(path), data: { file: project.files.show(path), source: name } };
}

/** `svc seed apply` */
export async function runSeedApply(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const sources = await chosenSources(project, server, await context.kinds(), project.seedsFolder, textOption(context, 'databaseName'));
  const only = listOption(context, 'file');
  if (only.length > 0 && sources.length > 1)
    throw failure('usage', '--file needs --database-name if there are several sources', {}, EXIT.usage);
  const options = runOptions(context);
  const planned = sources.map((source) => ({ source, seeds: readSeeds(project.files, join(project.seedsFolder, source.name), only) }));
  const run: JsonObject[] = [];
  for (const { source, seeds } of planned) {
    for (const seed of await runSeeds(server, source, seeds, flagOption(context, 'once'), options)) run.push({ source: source.name, seed });
  }
  return {
    text: run.length === 0 ? 'nothing to run' : run.map(({ source, seed }) => `run ${String(source)} ${String(seed)}`).join('\n'),
    data: { seeds: run },
  };
}
