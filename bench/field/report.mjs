// The result of a comparison as text or Markdown: facts about the run, a table, and the queries that were left out.

const COLUMNS = ['query', 'server', 'req/s', 'p50 ms', 'p99 ms', 'server CPU', 'PostgreSQL CPU', 'req/s to ideal', 'CPU to ideal'];
const EXPLANATION = [
  'CPU is in ms for 1,000 requests. "to ideal" is the ratio to the ideal server, of requests per second and of the requests per CPU time of',
  'server and PostgreSQL together: 1 is the ideal, 0.5 is half as much.',
].join('\n');
const NONE = '–';
const TEXT_COLUMNS = 2;

/**
 * @param facts `[name, value]` of each fact about the run
 * @param results `{query, server, figures}` with `{rate, p50, p99, own, database}`, or `{query, server, reason}` without figures
 * @returns the report
 */
export function reportOf({ facts, results }, { isMarkdown }) {
  const rows = results.map((result) => cellsOf(result, results));
  const notes = results.filter(({ reason }) => reason !== undefined).map(({ query, server, reason }) => `${query}, ${server}: ${reason}`);
  const list = facts.map(([name, value]) => (isMarkdown ? `- ${name}: ${value}` : `${name}: ${value}`));
  const noteList = notes.length === 0 ? [] : ['', 'Without figures:', ...(isMarkdown ? [''] : []), ...notes.map((note) => `- ${note}`)];
  return [...list, '', ...(isMarkdown ? markdownTable(rows) : textTable(rows)), '', EXPLANATION, ...noteList].join('\n');
}

function cellsOf({ query, server, figures }, results) {
  if (figures === undefined) return [query, server, ...COLUMNS.slice(TEXT_COLUMNS).map(() => NONE)];
  const ideal = results.find((other) => other.query === query && other.server === 'ideal')?.figures;
  const { rate, p50, p99, own, database } = figures;
  const whole = (each) => (each === undefined ? Number.NaN : each.own + each.database);
  return [
    query,
    server,
    number(rate, rate < 100 ? 1 : 0),
    number(p50, 1),
    number(p99, 1),
    number(own, 0),
    number(database, 0),
    number(rate / ideal?.rate, 2),
    number(whole(ideal) / whole(figures), 2),
  ];
}

const number = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : NONE);

function markdownTable(rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const alignment = COLUMNS.map((_, index) => (index < TEXT_COLUMNS ? '---' : '--:'));
  return [line(COLUMNS), line(alignment).replaceAll(' ', ''), ...rows.map(line)];
}

function textTable(rows) {
  const widths = COLUMNS.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index].length)));
  const line = (cells) =>
    cells
      .map((cell, index) => (index < TEXT_COLUMNS ? cell.padEnd(widths[index]) : cell.padStart(widths[index])))
      .join('  ')
      .trimEnd();
  return [COLUMNS, ...rows].map(line);
}
