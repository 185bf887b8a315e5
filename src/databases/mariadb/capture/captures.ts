import type { Captures } from '../../../backend/captures.ts';
import { cleanUp } from '../../shared/capture/cleanup.ts';
import { cleanupPlan, removeBatch } from './cleanup.ts';
import { install, isTaken, retain, uninstall } from './install.ts';
import { eventLog } from './log.ts';
import { MariadbEventQueue } from './queue.ts';
import type { BodyOptions } from './triggers.ts';
import { type EventDatabase, timeLimited } from './work.ts';

/** Event triggers of a MariaDB database. */
export function mariadbCaptures(source: EventDatabase, options: Pick<BodyOptions, 'stringifyNumericTypes'>): Captures {
  const database = timeLimited(source);
  return {
    ...eventLog(database),
    ...cleanupPlan(database),
    events: new MariadbEventQueue(database),
    install: (triggers, call) => install(database, triggers, call, options),
    retain: (definitions, options) => retain(database, definitions, options),
    uninstall: (owner) => uninstall(database, owner),
    isTaken: (name, owner) => isTaken(database, name, owner),
    cleanUp: (spec, options) => cleanUp(spec, options, (...batch) => removeBatch(database, ...batch)),
  };
}
