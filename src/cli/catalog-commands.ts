import { createInterface } from 'node:readline/promises';
import { cleanMetadata, exportMetadata } from '../app/catalog-commands.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/options.ts';
import type { Observer } from '../observability/observation.ts';
import { printJson } from '../util/json.ts';

/** Standard output is for the result: what happens on the way there is told beside it. */
const tell: Observer = (observation) => {
  if (observation.kind === 'source') process.stderr.write(`${observation.event}: ${observation.message}\n`);
};

/** `svc export`. @throws Error */
export async function exportCommand(config: Config): Promise<void> {
  process.stdout.write(`${printJson(await exportMetadata(config, tell))}\n`);
}

/** `svc clean`. @throws Error, also when nobody has confirmed it */
export async function cleanCommand(config: Config, confirmed: boolean): Promise<void> {
  if (!confirmed && !(await isAgreed())) throw new ConfigError('nothing was removed');
  const removed = await cleanMetadata(config, tell);
  process.stdout.write(removed ? 'the schema svc_catalog is removed\n' : 'there is no schema svc_catalog\n');
}

async function isAgreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new ConfigError('clean removes all metadata: confirm it with --yes');
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await asked.question('This removes all metadata. Type "yes" to go on: ')).trim() === 'yes';
  } finally {
    asked.close();
  }
}
