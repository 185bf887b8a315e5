import type { MigrationHistory, NewEntry, Refusal } from '../../backend/migration-dialect.ts';

/** Parts of the statements that differ between kinds. */
interface HistoryWords {
  /** Names of the two tables. */
  readonly migrations: string;
  readonly seeds: string;
  /** End of a statement that writes. */
  readonly end: string;
  /** Expression for the ms since `applied_at`. */
  readonly elapsed: string;
  /** Further columns of a new entry, with their values. */
  readonly inserted: Readonly<Record<string, string>>;
  /** Returns a literal that means the same under any setting of the session. */
  text(text: string): string;
  /** Returns a statement that fails with a refusal if the condition holds. */
  refuse(condition: string, refusal: Refusal): string;
}

type Statements = Omit<MigrationHistory, 'exists' | 'entries' | 'locked' | 'seeds' | 'inTransaction' | 'inSession'>;

/** Returns the statements that read and write single entries. */
export function historyStatements({ migrations, seeds, end, elapsed, inserted, text, refuse }: HistoryWords): Statements {
  const entry = (version: bigint, condition = ''): string => `exists (select 1 from ${migrations} where version = ${version}${condition})`;
  const update = (version: bigint, set: string): string => `update ${migrations} set ${set} where version = ${version}${end}`;
  return {
    refuseApplied: (version) => refuse(entry(version, ' and dirty'), 'dirty') + refuse(entry(version), 'done'),
    refuseMissing: (version) => refuse(`not ${entry(version)}`, 'gone'),
    insert({ version, name, checksum, down }: NewEntry, { dirty }) {
      const columns = ['version', 'name', 'checksum', 'down_sql', 'dirty', ...Object.keys(inserted)];
      const values = [version, text(name), text(checksum), down === null ? 'null' : text(down), dirty, ...Object.values(inserted)];
      return `insert into ${migrations} (${columns.join(', ')}) values (${values.join(', ')})${end}`;
    },
    markApplied: (version) => update(version, `dirty = false, duration_ms = ${elapsed}`),
    markDirty: (version) => update(version, 'dirty = true'),
    clearDirty: (version) => update(version, 'dirty = false'),
    markBegun: (version) => update(version, 'duration_ms = -1 - duration_ms'),
    remove: (version) => `delete from ${migrations} where version = ${version}${end}`,
    refuseSeed: (name) => refuse(`exists (select 1 from ${seeds} where name = ${text(name)})`, 'done'),
    insertSeed: (name, checksum) => `insert into ${seeds} (name, checksum) values (${text(name)}, ${text(checksum)})${end}`,
  };
}
