/**
 * Rewrites a query for BigQuery before it is compiled: each list gets a limit, which the source may lower, and functions are called
 * for all rows at once, with their results joined by the arguments.
 */
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Relation } from '../../../ir/relation.ts';
import { type AggregateQuery, type Field, type OrderBy, type OrderTerm, type RowsQuery, withoutConnection } from '../../../ir/select.ts';
import { type CalledForRows, callJoin } from './relation.ts';

/** Above the limit of any source. */
const ALL_ROWS = Number.MAX_SAFE_INTEGER;

export function limited<Q extends RowsQuery | AggregateQuery>(query: Q): Q {
  return (query.kind === 'rows' ? rowsOf(query) : aggregateOf(query)) as Q;
}

function rowsOf(query: RowsQuery): RowsQuery {
  const { rows } = query;
  const limit = query.shape === 'list' ? (rows.limit ?? ALL_ROWS) : rows.limit;
  return { ...query, rows: { ...rows, limit, orderBy: ordered(rows.orderBy, query.from) }, fields: fieldsOf(query.fields, query.from) };
}

function aggregateOf(query: AggregateQuery): AggregateQuery {
  const fields = query.fields.map((field) => (field.kind === 'nodes' ? { ...field, fields: fieldsOf(field.fields, query.from) } : field));
  const { rows } = query;
  return {
    ...query,
    rows: { ...rows, orderBy: ordered(rows.orderBy, query.from) },
    nodesLimit: query.nodesLimit ?? ALL_ROWS,
    fields,
  };
}

function fieldsOf(fields: readonly Field[], parent: Relation): readonly Field[] {
  return fields.map((field) => {
    if (field.kind !== 'related') return field;
    if (field.join !== null) return { ...field, query: limited(withoutConnection(field.query)) };
    const from = calledFor(field.query.from, parent);
    return { ...field, join: callJoin(from.call), query: limited({ ...withoutConnection(field.query), from }) };
  });
}

function ordered(orderBy: readonly OrderBy[], parent: Relation): readonly OrderBy[] {
  return orderBy.map((order) => ({ ...order, term: termOf(order.term, parent) }));
}

function termOf(term: OrderTerm, parent: Relation): OrderTerm {
  if (term.kind === 'read') return term;
  if (term.kind === 'related') return { ...term, term: termOf(term.term, term.from) };
  if (term.join !== null) return term;
  const from = calledFor(term.from, parent);
  return { ...term, join: callJoin(from.call), from };
}

function calledFor(relation: Relation, parent: Relation): CalledForRows {
  if (relation.kind !== 'function') throw new Error('invariant: only rows of functions have no join');
  return { ...relation, callers: tableOf(parent) };
}

function tableOf(relation: Relation): QualifiedName {
  if (relation.kind === 'table') return relation.name;
  throw new SvcError('not-supported', 'BigQuery cannot call a function for the rows of another function');
}
