import { readFileSync } from 'node:fs';

let known: string | undefined;

/** The version of the package this code belongs to. */
export function serviceVersion(): string {
  // The same distance from src/config and from dist/config.
  known ??= (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
  return known;
}

/** Of two versions like `0.1.0`; those of other forms are not compared. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  if (one === undefined || other === undefined) return false;
  const at = one.findIndex((part, i) => part !== other[i]);
  return at >= 0 && (one[at] as number) < (other[at] as number);
}
