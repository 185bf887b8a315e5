import { useEffect, useMemo, useState } from 'preact/hooks';
import { readTableInfo } from '../../api/table-info.ts';
import type { SourceOverview, TableOverview } from '../../model/overview.ts';
import { tableId } from '../../model/overview.ts';
import type { Completion, Completions } from '../../parts/code-editor-types.ts';

/** Pause after the last keystroke before columns are read. */
const PAUSE_MS = 200;
/** Maximum number of tables of a text whose columns are read. */
const MAX_TABLES = 12;

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Columns of the tables that the text names, for completions. They are read from the catalog of the service, table by table. */
export function useColumns(source: SourceOverview | undefined, text: string, version: number) {
  const key = `${source?.name} ${version}`;
  const [read, setRead] = useState<{ readonly key: string; readonly columns: ReadonlyMap<string, readonly Column[]> }>({
    key,
    columns: new Map(),
  });
  const known = read.key === key ? read.columns : NONE;
  const named = useMemo(() => namedTables(source, text), [source, text]);
  useEffect(() => {
    const missing = named.filter((table) => !known.has(tableId(table)));
    if (missing.length === 0) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const reads = missing.map(async (table): Promise<readonly [string, readonly Column[]]> => {
        // Completions are not worth an error message.
        const columns = await readTableInfo(table, controller.signal).then(
          (info) => info.columns,
          () => [],
        );
        return [tableId(table), columns];
      });
      void Promise.all(reads).then((found) => {
        if (!controller.signal.aborted) setRead({ key, columns: new Map([...known, ...found]) });
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, named.map(tableId).join(' ')]);
  /** Columns by table. */
  const tables = useMemo(
    () =>
      Object.fromEntries(
        (source?.tables ?? []).map((table) => [tableId(table), (known.get(tableId(table)) ?? []).map(({ name }) => name)]),
      ),
    [source, known],
  );
  const complete = async (before: string, at: number): Promise<Completions | null> => {
    // Columns of one table, after its name and a dot, are completed by the language.
    if (/\.\w*$/.test(before.slice(Math.max(0, at - 200), at))) return null;
    const options = named.flatMap((table) => (known.get(tableId(table)) ?? []).map((column) => optionOf(column, table)));
    return options.length === 0 ? null : { options };
  };
  return { tables, complete };
}

const NONE: ReadonlyMap<string, readonly Column[]> = new Map();

function optionOf({ name, type }: Column, table: TableOverview): Completion {
  return { label: name, detail: `${table.name} ${type}`, boost: 1 };
}

/** Tables whose name is a word of the text. */
function namedTables(source: SourceOverview | undefined, text: string): readonly TableOverview[] {
  const words = new Set(text.toLowerCase().match(/[\w$]+/g) ?? []);
  return (source?.tables ?? []).filter(({ name }) => words.has(name.toLowerCase())).slice(0, MAX_TABLES);
}
