import { readFileSync } from 'node:fs';

let known: string | undefined;

/** The version of the package this code belongs to. */
export function serviceVersion(): string {
  // The same distance from src/config and from dist/config.
  known ??= (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
  return known;
}
