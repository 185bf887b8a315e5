// Runs the statements of one database in a thread of its own: SQLite returns when it is done, and only the end of the thread stops it.
import { parentPort, workerData } from 'node:worker_threads';
import initSqlJs from 'sql.js';

const { file, heapBytes } = workerData;
const { Database } = await initSqlJs();
const database = new Database(file);
for (const setting of [`hard_heap_limit = ${heapBytes}`, 'query_only = on', 'trusted_schema = off', 'case_sensitive_like = on'])
  database.exec(`pragma ${setting}`);

function textOf(value) {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}

function run({ text, values, maxRows, maxBytes }) {
  const statement = database.prepare(text);
  try {
    if (/[^\s;]/.test(text.slice(statement.getSQL().length))) throw new Error('the SQL has more than one statement');
    statement.bind(values);
    const rows = [];
    let bytes = 0;
    while (statement.step()) {
      if (rows.length === maxRows) return { columns: statement.getColumnNames(), rows, isCut: true };
      const row = statement.get(null, { useBigInt: true }).map(textOf);
      for (const cell of row) bytes += cell === null ? 0 : Buffer.byteLength(cell);
      if (bytes > maxBytes) throw new Error(`the rows are too big: more than ${maxBytes} bytes`);
      rows.push(row);
    }
    return { columns: statement.getColumnNames(), rows, isCut: false };
  } finally {
    statement.free();
  }
}

parentPort.on('message', (query) => {
  try {
    parentPort.postMessage(run(query));
  } catch (failure) {
    parentPort.postMessage({ error: failure.message });
  }
});
