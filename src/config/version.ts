import { readFileSync } from 'node:fs';

let cached: string | undefined;

/** Version of this package. */
export function serviceVersion(): string {
  // The relative path is the same from src/config and dist/config.
  cached ??= (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
  return cached;
}

/** Compares versions such as `0.1.0`; false for other forms. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  if (one === undefined || other === undefined) return false;
  const at = one.findIndex((part, i) => part !== other[i]);
  return at >= 0 && (one[at] as number) < (other[at] as number);
}
