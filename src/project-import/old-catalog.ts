/** Statements of migrations that use the other engine's own schema, and statements that depend on them. */
import type { SqlReader } from './sql-reader.ts';

const OLD_CATALOG = /\bhdb_catalog\b/i;
const NAME = String.raw`(?:"(?:[^"]|"")+"|[A-Za-z_][\w$]*)`;
const QUALIFIED = `(?:${NAME}\\s*\\.\\s*)?(${NAME})`;
const CREATED = new RegExp(
  String.raw`^\s*create\s+(?:or\s+replace\s+)?(?:(?:global|local|temp|temporary|unlogged|recursive|materialized)\s+)*(view|table|function|procedure)\s+(?:if\s+not\s+exists\s+)?${QUALIFIED}`,
  'i',
);
/** Keywords that precede the name of a relation or function. */
const BEFORE = 'from|join|on|into|update|only|table|view|references|exists|function|procedure|routine|like|of';

export interface WithoutOldCatalog {
  readonly sql: string;
  /** Number of statements that use the schema themselves. */
  readonly used: number;
  /** Names that other statements need, whose creation was commented out. */
  readonly dependent: readonly string[];
}

type Kind = 'relation' | 'function';

/** Names that previous statements have created, and names whose creation was commented out. */
class Names {
  readonly existing: Set<string>;
  readonly lost: Map<string, Kind>;

  constructor(from?: Names) {
    this.existing = new Set(from?.existing);
    this.lost = new Map(from?.lost);
  }
}

/**
 * Comments statements out. Migrations must be passed in the order in which they run: a name stays lost until a later statement creates it
 * without that schema.
 */
export class OldCatalog {
  readonly #bySource = new Map<string, Names>();
  readonly #reader: SqlReader;

  constructor(reader: SqlReader) {
    this.#reader = reader;
  }

  /** @param isDown the SQL is a down migration, after which no later migration runs */
  commentOut(source: string, sql: string, isDown: boolean): WithoutOldCatalog {
    const known = this.#bySource.get(source) ?? new Names();
    const names = isDown ? new Names(known) : known;
    this.#bySource.set(source, known);
    const dependent = new Set<string>();
    let used = 0;
    let text = '';
    let from = 0;
    for (const { text: statement, at } of this.#reader.statements(sql)) {
      const bare = this.#reader.withoutComments(statement);
      const created = CREATED.exec(bare);
      const ownName = created === null ? undefined : plain(created[2] as string);
      const usesSchema = OLD_CATALOG.test(bare);
      const needed = [...names.lost].filter(([name, kind]) => name !== ownName && needs(bare, name, kind)).map(([name]) => name);
      if (!usesSchema && needed.length === 0) {
        if (ownName === undefined) continue;
        names.lost.delete(ownName);
        names.existing.add(ownName);
        continue;
      }
      if (usesSchema) used += 1;
      else for (const name of needed) dependent.add(name);
      if (ownName !== undefined && !names.existing.has(ownName))
        names.lost.set(ownName, /^(?:function|procedure)$/i.test(created?.[1] ?? '') ? 'function' : 'relation');
      text += `${sql.slice(from, at)}${asComment(statement)}`;
      from = at + statement.length;
    }
    return { sql: text + sql.slice(from), used, dependent: [...dependent] };
  }

  /** Returns names by source that are still lost after all migrations. */
  lost(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map([...this.#bySource].map(([source, { lost }]) => [source, new Set(lost.keys())]));
  }
}

function asComment(statement: string): string {
  const commented = statement.split('\n').map((line) => `-- ${line}`);
  return `-- svc import: not run, it uses the tables of another engine (see svc_catalog)\n${commented.join('\n')}\nselect 1`;
}

function needs(statement: string, name: string, kind: Kind): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const quoted = `(?:"${escaped}"|(?<![\\w$"])${escaped}(?![\\w$"]))`;
  const qualified = `(?:${NAME}\\s*\\.\\s*)?${quoted}`;
  const after = new RegExp(`(?:\\b(?:${BEFORE})|,)\\s+${qualified}`, 'i');
  return after.test(statement) || (kind === 'function' && new RegExp(`${quoted}\\s*\\(`, 'i').test(statement));
}

function plain(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();
}
