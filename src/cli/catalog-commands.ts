import { createInterface } from 'node:readline/promises';
import { cleanMetadata, exportMetadata } from '../app/catalog-commands.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/options.ts';
import type { Observer } from '../observability/observation.ts';
import { printJson } from '../util/json.ts';

/** Prints events to stderr; stdout is for the result. */
const printEvents: Observer = (observation) => {
  if (observation.kind === 'source') process.stderr.write(`${observation.event}: ${observation.message}\n`);
};

/** `svc export`. @throws Error */
export async function exportCommand(config: Config): Promise<void> {
  process.stdout.write(`${printJson(await exportMetadata(config, printEvents))}\n`);
}

/** `svc clean`. @throws Error, also without a confirmation */
export async function cleanCommand(config: Config, confirmed: boolean): Promise<void> {
  if (!confirmed && !(await isConfirmed())) throw new ConfigError('nothing was removed');
  const removed = await cleanMetadata(config, printEvents);
  process.stdout.write(removed ? 'the schema svc_catalog was removed\n' : 'there is no schema svc_catalog\n');
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new ConfigError('clean removes all metadata: confirm it with --yes');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await prompt.question('This removes all metadata. Type "yes" to continue: ')).trim() === 'yes';
  } finally {
    prompt.close();
  }
}
