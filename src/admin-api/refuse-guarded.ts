import { SvcError } from '../errors/svc-error.ts';
import type { Command } from '../metadata-api/request.ts';

/**
 * Of a service whose metadata is read-only: nothing of a request is run when a part of it would change the metadata, or is
 * SQL that may change something.
 * @throws SvcError access-denied
 */
export function refuseGuarded(command: Command): void {
  if (command.kind === 'bulk') {
    for (const item of command.items) refuseGuarded(item);
    return;
  }
  const { isGuarded, type } = command.prepared;
  if (!isGuarded) return;
  throw new SvcError('access-denied', `the metadata of this service is read-only (--metadata-read-only): "${type}" is refused`, {
    path: command.path,
    status: 403,
  });
}

/** Of a service that runs no SQL of administrators: nothing of a request is run when a part of it would. @throws SvcError access-denied */
export function refuseSql(command: Command): void {
  if (command.kind === 'bulk') {
    for (const item of command.items) refuseSql(item);
    return;
  }
  const { type, runsSql } = command.prepared;
  if (!runsSql) return;
  const message = `this service runs no SQL of administrators (--disable-run-sql): "${type}" is refused`;
  throw new SvcError('access-denied', message, { path: command.path, status: 403 });
}

/**
 * Of what is tried where the metadata is read-only: whoever may not say which addresses are called may not try it either.
 * @throws SvcError access-denied
 */
export function refuseAddresses(command: Command): void {
  if (command.kind === 'bulk') {
    for (const item of command.items) refuseAddresses(item);
    return;
  }
  const { bringsAddresses, type } = command.prepared;
  if (!bringsAddresses) return;
  const message = `the metadata of this service is read-only (--metadata-read-only): "${type}" is not tried, because addresses would be called`;
  throw new SvcError('access-denied', message, { path: command.path, status: 403 });
}

/** Of what is only tried: nothing of it may do more than change the metadata. @throws SvcError not-supported */
export function refuseEffects(command: Command): void {
  if (command.kind === 'bulk') {
    for (const item of command.items) refuseEffects(item);
    return;
  }
  const { changes, type } = command.prepared;
  if (changes === 'metadata') return;
  throw new SvcError('not-supported', `"${type}" is no change of the metadata, so that it cannot be tried`, { path: command.path });
}
