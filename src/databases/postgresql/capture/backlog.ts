import type { Source } from '../../../backend/backend.ts';
import type { Backlog } from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { DatabaseError } from '../driver/database-error.ts';
import { DUE, NOW, PENDING } from './names.ts';
import type { RunOptions } from '../../../backend/connection.ts';

/** Events that are looked at: a question that is asked again and again must not grow with the queue. */
const LOOK = 100_000;
const BACKLOG = `
select count(*), coalesce(greatest(extract(epoch from ${NOW} - min(due)), 0), 0)::float8
from (select ${DUE} as due from svc_catalog.event_log where ${PENDING} limit ${LOOK}) pending`;
const NOTHING: Backlog = { pending: 0, oldestAge: 0 };

/** What waits in a database, of all triggers. The tables are made with the first trigger: before there is nothing. @throws SvcError */
export async function backlog(source: Pick<Source, 'query'>, how: RunOptions): Promise<Backlog> {
  try {
    const { rows } = await source.query(BACKLOG, [], how);
    return { pending: Number(rows[0]?.[0] ?? 0), oldestAge: Number(rows[0]?.[1] ?? 0) };
  } catch (error) {
    if (error instanceof SvcError && error.cause instanceof DatabaseError && ['42P01', '3F000'].includes(error.cause.code)) return NOTHING;
    throw error;
  }
}
