import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ImportOptions, type ImportResult, type ImportRow, type ImportState, importAll, importValid } from '../../api/import-rows.ts';
import { persona } from '../../api/persona.ts';
import { insertRows } from '../../api/rows.ts';
import { columnOfField, type NamedTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { pause } from '../../browser/pause.ts';
import { type ImportColumn, type ImportPlan, matchColumns, planImport } from '../../model/import-plan.ts';
import { textOfFile } from '../../model/file-text.ts';
import {
  checkSize,
  delimitedRows,
  delimiterOf,
  IMPORT_LIMITS,
  type ImportTable,
  isJsonText,
  tableOfJson,
  tableOfLines,
} from '../../model/import-text.ts';
import { showToast } from '../../parts/toast.tsx';
import { readWritable } from './use-row-draft.ts';

/** Maximum number of bytes of a character in UTF-8 and UTF-16, per unit of the length of a text. */
const MAX_BYTES_PER_UNIT = 3;
const SLICE = 2000;

export type ImportMode = 'valid' | 'all';

/** Reads the rows of a text in slices. @throws SyntaxError if the text cannot be read or is too long */
async function readTable(text: string, known: readonly string[]): Promise<ImportTable> {
  if (text.length > IMPORT_LIMITS.characters) throw tooLong();
  let table: ImportTable;
  if (isJsonText(text)) table = tableOfJson(text);
  else {
    const delimiter = delimiterOf(text);
    const lines = [];
    let width = 0;
    for (const line of delimitedRows(text, delimiter)) {
      lines.push(line);
      if (lines.length % SLICE === 0) await pause();
      width = Math.max(width, line.cells.length);
      // One line may be the header.
      checkSize(lines.length - 1, width);
    }
    table = tableOfLines(lines, delimiter, known);
  }
  checkSize(table.rows.length, table.columns.length);
  if (table.rows.length === 0) throw new SyntaxError('There are no rows.');
  return table;
}

function tooLong(): SyntaxError {
  return new SyntaxError(`The text has more than ${IMPORT_LIMITS.characters.toLocaleString('en')} characters. Split it.`);
}

/** Reads the text of a file. @throws SyntaxError if it is too long or not text, DOMException if the browser cannot read it */
async function readFile(file: File): Promise<string> {
  if (file.size > IMPORT_LIMITS.characters * MAX_BYTES_PER_UNIT) throw tooLong();
  return textOfFile(new Uint8Array(await file.arrayBuffer()));
}

async function readTargets(info: NamedTableInfo): Promise<readonly ImportColumn[]> {
  const writable = await readWritable(persona.peek(), info, 'insertInput');
  return [...writable].map(([name, { type, choices }]) => {
    const column = columnOfField(info, name);
    return { name, type: type.text, choices, isRequired: column?.isNullable === false && !column.hasDefault };
  });
}

/** Says how an import ended whose page is no longer shown. */
function leftText({ end, inserted, uncertain }: ImportResult, count: number): string {
  const perhaps = end === 'unknown' ? `, and perhaps ${uncertain.length.toLocaleString('en')} more` : '';
  return `The import has ${end === 'done' ? 'ended' : 'stopped'}: ${inserted.toLocaleString('en')} of ${count.toLocaleString('en')} rows inserted${perhaps}`;
}

/** Stops an import with its page, and asks before the browser leaves a running one. */
function useLeaving(isRunning: boolean) {
  const isStopped = useRef(false);
  const isLeft = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
      isLeft.current = true;
    },
    [],
  );
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    if (isRunning) addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isRunning]);
  return { isStopped, isLeft };
}

/** State of an import: text, then the plan of its rows, then its progress and its result. */
export function useImport(info: NamedTableInfo, initial: string) {
  const as = persona.value;
  const [table, setTable] = useState<ImportTable>();
  const [mapping, setMapping] = useState<readonly (string | undefined)[]>([]);
  const [plan, setPlan] = useState<ImportPlan>();
  const [problem, setProblem] = useState<string>();
  const [progress, setProgress] = useState<ImportState>();
  const [result, setResult] = useState<ImportResult>();
  const { isStopped, isLeft } = useLeaving(progress !== undefined);
  const [isStopping, setStopping] = useState(false);
  const latest = useRef(0);
  const { value: targets, failure } = useResource(async () => {
    const found = await readTargets(info);
    if (initial !== '') await read(initial, found);
    return found;
  }, 'targets');
  const keys = [info.primaryKey, ...info.uniqueKeys]
    .filter((key) => key.length > 0)
    .map((key) => key.map((column) => info.columnNames.get(column) ?? column));

  const check = async (rows: ImportTable, next: readonly (string | undefined)[], columns: readonly ImportColumn[]): Promise<void> => {
    const run = ++latest.current;
    setMapping(next);
    const found = await planImport(rows, { mapping: next, targets: columns, keys }, pause);
    if (latest.current === run) setPlan(found);
  };
  const read = async (from: string | File, columns: readonly ImportColumn[]): Promise<void> => {
    setProblem(undefined);
    try {
      const text = typeof from === 'string' ? from : await readFile(from);
      const found = await readTable(
        text,
        columns.map(({ name }) => name),
      );
      await check(found, matchColumns(found, columns), columns);
      setTable(found);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const rows = useMemo(
    (): readonly ImportRow[] => plan?.objects.flatMap((object, row) => (object === undefined ? [] : { row, object })) ?? [],
    [plan],
  );
  const start = async (mode: ImportMode): Promise<ImportResult> => {
    isStopped.current = false;
    setStopping(false);
    setProgress({ inserted: 0, handled: 0, rejected: [] });
    const run = mode === 'all' ? importAll : importValid;
    const insert: ImportOptions['insert'] = (objects, singles) => insertRows(as, info.names, objects, singles);
    const found = await run({ rows, insert, isStopped: () => isStopped.current, onProgress: setProgress });
    setResult(found);
    setProgress(undefined);
    if (isLeft.current) showToast(leftText(found, rows.length), { isError: found.end !== 'done' });
    return found;
  };
  return {
    targets,
    failure,
    table,
    mapping,
    plan,
    problem,
    progress,
    result,
    rows,
    isStopping,
    read: (from: string | File) => read(from, targets ?? []),
    map: (index: number, name: string | undefined) => {
      if (table === undefined) return;
      const next = mapping.map((each, place) => (place === index ? name : each === name ? undefined : each));
      void check(table, next, targets ?? []);
    },
    start,
    stop: () => {
      isStopped.current = true;
      setStopping(true);
    },
    /** Returns to the text. */
    clear: () => {
      setTable(undefined);
      setPlan(undefined);
      setResult(undefined);
    },
  };
}

export type ImportFlow = ReturnType<typeof useImport>;
