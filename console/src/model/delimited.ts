/** Rows as CSV and TSV. */

export function csvOf(rows: readonly (readonly (string | null)[])[]): string {
  const cell = (text: string | null): string =>
    text === null ? '' : /[",\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map((row) => row.map(cell).join(',')).join('\r\n');
}

/** TSV for pasting into spreadsheets: tabs and line breaks within cells become spaces. */
export function tsvOf(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row) => row.map((text) => (text ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t')).join('\n');
}
