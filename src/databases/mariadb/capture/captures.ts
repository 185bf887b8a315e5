import type { Captures } from '../../../backend/captures.ts';
import { capturesOf } from '../../shared/captures-of.ts';
import { CleanupPlan, cleanUp } from './cleanup.ts';
import { install, isTaken, retain, uninstall } from './install.ts';
import { EventLog } from './log.ts';
import { MariadbEventQueue } from './queue.ts';
import type { BodyOptions } from './triggers.ts';
import { type EventDatabase, patient } from './work.ts';

/** Event triggers of a MariaDB database. */
export function mariadbCaptures(source: EventDatabase, options: Pick<BodyOptions, 'stringifyNumericTypes'>): Captures {
  const database = patient(source);
  return capturesOf(new EventLog(database), new CleanupPlan(database), {
    events: new MariadbEventQueue(database),
    install: (triggers, how) => install(database, triggers, how, options),
    retain: (definitions, how) => retain(database, definitions, how),
    uninstall: (owner) => uninstall(database, owner),
    isTaken: (name, owner) => isTaken(database, name, owner),
    cleanUp: (spec, how) => cleanUp(database, spec, how),
  });
}
