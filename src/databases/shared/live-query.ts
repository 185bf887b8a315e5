/** Parts of live queries that kinds share. */
import type { LiveQuery } from '../../backend/backend.ts';
import type { Read } from '../../ir/bool-exp.ts';
import type { RowsQuery, SelectRoot } from '../../ir/select.ts';
import type { Parameter } from '../../sql/fragment.ts';

/** Returns the query and the cursor of a stream; `null` for the roots of a live query. */
export function streamOf([first]: readonly SelectRoot[]): { readonly query: RowsQuery; readonly cursor: Read } | null {
  return first?.cursor !== undefined && first.query.kind === 'rows' ? { query: first.query, cursor: first.cursor } : null;
}

/** @param isTimeless returns whether the text of a parameter means the same at any time */
export function liveQueryOf(
  { isStream, ...query }: Omit<LiveQuery, 'cursor' | 'isTimeless'> & { readonly isStream: boolean },
  isTimeless: (parameter: Parameter, text: string | null) => boolean,
): LiveQuery {
  const { parameters } = query;
  return {
    ...query,
    cursor: isStream ? parameters.findIndex(({ operand }) => operand.value.kind === 'cursor') : null,
    isTimeless: (values) => parameters.every((parameter, i) => isTimeless(parameter, values[i] ?? null)),
  };
}
