/** Where MariaDB answers otherwise than PostgreSQL to the same mutation of `writes.ts`, by title, and why. */
export interface Difference {
  readonly reason: string;
  /** What MariaDB answers. */
  readonly mariadb: unknown;
  /** The rows differ afterwards. */
  readonly rows?: 'differ';
}

export const DIFFERENCES: ReadonlyMap<string, Difference> = new Map<string, Difference>([]);
