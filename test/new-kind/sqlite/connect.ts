/** Opens a source from its configuration. */
import { open } from 'node:fs/promises';
import type { ConnectContext } from '../../../src/backend/backend.ts';
import type { RunOptions } from '../../../src/backend/connection.ts';
import { connectionText } from '../../../src/databases/shared/connection-settings.ts';
import { SvcError } from '../../../src/errors/svc-error.ts';
import { type Codec, leaf, nonEmptyText, object, required } from '../../../src/metadata/codec.ts';
import type { ConfiguredText } from '../../../src/metadata/environment-template.ts';
import type { Json } from '../../../src/util/json.ts';
import type { Path } from '../../../src/util/path.ts';
import { Engine } from './engine.ts';
import { SqliteSource } from './source.ts';

export interface SqliteConfiguration {
  /** Path of a database file. */
  readonly file: ConfiguredText;
}

const variable = object('SqliteVariable', { from_env: required(nonEmptyText) });

const fileText: Codec<ConfiguredText> = leaf(
  'SqliteFile',
  (json: Json, path: Path): ConfiguredText =>
    typeof json === 'string'
      ? { kind: 'template', text: nonEmptyText.decode(json, path) }
      : { kind: 'environment', name: variable.decode(json, path).from_env },
  (value) => (value.kind === 'template' ? value.text : { from_env: value.name }),
  { description: 'A path, which is a template, or `{"from_env": …}`.' },
);

export const configuration: Codec<SqliteConfiguration> = object('SqliteConfiguration', { file: required(fileText) });

/** Maximum size of a database file. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Reads the file once, so the source shows its content at that time. @throws SvcError */
export async function connect({ file }: SqliteConfiguration, context: ConnectContext, options: RunOptions = {}): Promise<SqliteSource> {
  const path = connectionText(file, context.environment);
  const engine = new Engine(await readBounded(path));
  try {
    await engine.run({ text: 'select count(*) from sqlite_schema', values: [] }, options);
  } catch (failure) {
    await engine.close();
    throw failure instanceof SvcError ? failure : connectionError((failure as Error).message);
  }
  return new SqliteSource(engine);
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path);
    try {
      const stat = await file.stat();
      if (!stat.isFile() || stat.size > MAX_FILE_BYTES) throw new Error(`it is no file of at most ${MAX_FILE_BYTES} bytes`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (failure) {
    throw connectionError((failure as Error).message);
  }
}

function connectionError(reason: string): SvcError {
  return new SvcError('database-error', 'connection error', { status: 500, internal: reason });
}
