/** The commands of `svc seed`. */
import { join } from 'node:path';
import { applyChanges, readNamedFile } from '../../project/directory/files.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { dumpRows, readSeeds, runSeeds } from '../../migrations/seeds.ts';
import { chosenSources, oneFolder, serverSources } from '../../migrations/sources.ts';
import type { JsonObject } from '../../util/json.ts';
import { type Call, flagOption, listOption, type Outcome, textOption } from '../call.ts';
import { fileName, projectSources } from './migrate-files.ts';
import { runOptions } from './run-options.ts';

/** `svc seed create` */
export async function runSeedCreate(call: Call): Promise<Outcome> {
  const project = await call.project();
  const tables = listOption(call, 'fromTable');
  const name = oneFolder(project, project.seedsFolder, textOption(call, 'databaseName'), projectSources(project));
  const file = textOption(call, 'sqlFromFile');
  let sql = '';
  if (file !== undefined) {
    const read = readNamedFile(call.cwd, file);
    if (read === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
    sql = read;
  }
  if (flagOption(call, 'upsert') && tables.length === 0) throw failure('usage', '--upsert is of --from-table', {}, EXIT.usage);
  if (tables.length > 0) {
    const server = await call.server();
    const source = (await serverSources(server, await call.kinds())).find((each) => each.name === name);
    if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
    for (const table of tables) sql += await dumpRows(server, source, table, flagOption(call, 'upsert'));
  }
  const path = join(project.seedsFolder, name, `${Date.now()}_${fileName(call.args[0] as string)}.sql`);
  applyChanges(project.files, new Map([[path, sql]]));
  return { text: project.files.show(path), data: { file: project.files.show(path), source: name } };
}

/** `svc seed apply` */
export async function runSeedApply(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const sources = await chosenSources(project, server, await call.kinds(), project.seedsFolder, textOption(call, 'databaseName'));
  const only = listOption(call, 'file');
  if (only.length > 0 && sources.length > 1)
    throw failure('usage', '--file needs --database-name where there are several sources', {}, EXIT.usage);
  const options = runOptions(call);
  const planned = sources.map((source) => ({ source, seeds: readSeeds(project.files, join(project.seedsFolder, source.name), only) }));
  const run: JsonObject[] = [];
  for (const { source, seeds } of planned) {
    for (const seed of await runSeeds(server, source, seeds, flagOption(call, 'once'), options)) run.push({ source: source.name, seed });
  }
  return {
    text: run.length === 0 ? 'nothing to run' : run.map(({ source, seed }) => `run ${String(source)} ${String(seed)}`).join('\n'),
    data: { seeds: run },
  };
}
