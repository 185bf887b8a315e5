import type { Source } from '../../../backend/backend.ts';
import type { Backlog } from '../../../backend/captures.ts';
import type { RunOptions } from '../../../backend/connection.ts';
import { unlessMissing } from '../../shared/capture/event-log.ts';
import { isMissing } from './log.ts';
import { DUE, NOW, PENDING } from './names.ts';

/** Maximum number of events that are counted: the cost of a statement that is repeated must not grow with the queue. */
const MAX_COUNTED = 100_000;
const BACKLOG = `
select count(*), coalesce(greatest(extract(epoch from ${NOW} - min(due)), 0), 0)::float8
from (select ${DUE} as due from svc_catalog.event_log where ${PENDING} limit ${MAX_COUNTED}) pending`;
const NOTHING: Backlog = { pending: 0, oldestAge: 0 };

/** Counts the pending events of all triggers of a database. @throws SvcError */
export function backlog(source: Pick<Source, 'query'>, options: RunOptions): Promise<Backlog> {
  return unlessMissing({ isMissing }, NOTHING, async () => {
    const { rows } = await source.query(BACKLOG, [], options);
    return { pending: Number(rows[0]?.[0] ?? 0), oldestAge: Number(rows[0]?.[1] ?? 0) };
  });
}
