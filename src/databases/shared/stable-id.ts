import { createHash } from 'node:crypto';

/** Returns a number for a name, for catalogs without ids. Collisions are improbable. */
export function stableId(name: string): number {
  return createHash('sha256').update(name).digest().readUIntBE(0, 6);
}
