/** Spans of the database requests of a plan. */
import type { Source } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { RunOptions } from '../backend/connection.ts';

export interface TracedStatement {
  readonly source: string;
  /** E.g. `SELECT`; `null` if there are several. */
  readonly verb: string | null;
  /** E.g. `shop.author`; `null` if there are several. */
  readonly collection: string | null;
  readonly statements: number;
  readonly text: string;
}

/**
 * Runs a database request, within a span if the request is traced.
 * @param run gets the span
 */
export function tracedStatement<T>(
  options: RunOptions,
  connection: Pick<Source, 'address'>,
  what: () => TracedStatement,
  run: (trace: Span | undefined) => Promise<T>,
): Promise<T> {
  const { trace } = options;
  if (trace === undefined || !trace.isSampled) return run(trace);
  const { source, verb, collection, statements, text } = what();
  const summary = [verb ?? 'TRANSACTION', ...(collection === null ? [] : [collection])].join(' ');
  const span = trace.child(summary, 'client').set('db.query.summary', summary).set('svc.source', source);
  const { address } = connection;
  span.set('db.system.name', address?.system).set('db.namespace', address?.database);
  span.set('server.address', address?.host).set('server.port', address?.port);
  span.set('db.operation.name', verb).set('db.collection.name', collection);
  if (statements > 1) span.set('db.operation.batch.size', statements);
  if (trace.showsSql) span.set('db.query.text', text);
  return run(span).then(
    (result) => {
      span.end();
      return result;
    },
    (error: unknown) => {
      span.fail(sqlStateOf(error) ?? toSvcError(error).code).set('db.response.status_code', sqlStateOf(error));
      span.end();
      throw error;
    },
  );
}

/** Returns the SQLSTATE of a database error, `null` for other errors. */
function sqlStateOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return null;
}
