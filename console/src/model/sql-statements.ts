/** Statements of an SQL text: what is between semicolons that are not in quotes or comments. */

export interface StatementRange {
  readonly from: number;
  readonly to: number;
}

const PIECES =
  /('(?:[^'\\]|''|\\.)*'?|"(?:[^"]|"")*"?|`[^`]*`?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\2\$|$))|(;)/g;

export function statementsOf(text: string): readonly StatementRange[] {
  const found: StatementRange[] = [];
  let from = 0;
  const add = (to: number): void => {
    const part = text.slice(from, to);
    const lead = part.length - part.trimStart().length;
    if (part.replace(/--[^\n]*/g, '').trim() !== '') found.push({ from: from + lead, to: from + part.trimEnd().length });
  };
  for (const match of text.matchAll(PIECES)) {
    if (match[3] === undefined) continue;
    add(match.index);
    from = match.index + 1;
  }
  add(text.length);
  return found;
}

/** The statement at a place, or the one before it. */
export function statementAt(text: string, at: number): StatementRange | undefined {
  const all = statementsOf(text);
  return all.find(({ to }) => at <= to + 1) ?? all.at(-1);
}

/** Whether a text may define something, so that there may be new tables afterwards. */
export function mayDefine(text: string): boolean {
  return /\b(?:create|alter|drop|rename)\b/i.test(text);
}
