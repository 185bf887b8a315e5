/**
 * Runs a decoded request. Neighbouring edits of a bulk wait in a batch and become one change of
 * the state; an operation that has an effect or an answer of its own settles them first. The state
 * of a request that edits is a draft (`State.together`): what is settled is neither stored nor shown
 * to others before the whole request is done, and is forgotten when it fails. SQL and other effects
 * that already happened stay.
 */
import { SvcError } from '../errors/svc-error.ts';
import { mergeRefreshes } from '../state/refresh.ts';
import type { Change, ChangeResult, Warning } from '../state/state.ts';
import { ChangeRefused } from '../state/verdict.ts';
import { type Path, ROOT } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import type { EditContext, Prepared, Services } from './operation.ts';
import { toleratedBy } from './tolerated.ts';

interface Pending {
  readonly prepared: Prepared;
  readonly path: Path;
}

export class CommandBatch {
  readonly #services: Services;
  readonly #warnings: Warning[];
  #pending: Pending[] = [];

  /** @param warnings gets those of the changes */
  constructor(services: Services, warnings: Warning[]) {
    this.#services = services;
    this.#warnings = warnings;
  }

  /** Adds an edit; edits that treat inconsistencies in another way do not mix. */
  async add(prepared: Prepared, path: Path): Promise<void> {
    const first = this.#pending[0];
    if (prepared.readsDependencies || (first !== undefined && first.prepared.inconsistencies !== prepared.inconsistencies))
      await this.settle();
    const { backends, kinds, state } = this.#services;
    if (prepared.prepareEdit !== undefined) await inSlices(prepared.prepareEdit({ snapshot: state.current(), backends, kinds, path }));
    this.#pending.push({ prepared, path });
  }

  /** Makes the waiting edits current. @throws SvcError at the path of the element that failed */
  async settle(): Promise<ChangeResult | undefined> {
    const items = this.#pending;
    const last = items.at(-1);
    if (last === undefined) return undefined;
    this.#pending = [];
    let refusedBy: Pending | undefined;
    try {
      return await this.change({
        edit: (metadata, snapshot) =>
          items.reduce((edited, item) => {
            refusedBy = item;
            const { backends, kinds } = this.#services;
            const context: EditContext = { snapshot, backends, kinds, path: item.path };
            const next = item.prepared.edit?.(edited, context) ?? edited;
            refusedBy = undefined;
            return next;
          }, metadata),
        refresh: mergeRefreshes(items.map((item) => item.prepared.refresh)),
        inconsistencies: last.prepared.inconsistencies,
        edited: items.flatMap((item) => item.prepared.edited),
        clearsEvents: items.some((item) => item.prepared.clearsEvents),
      });
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      if (refusedBy !== undefined) throw placed(thrown, refusedBy.path);
      const culprit = findCulprit(items, thrown) ?? last;
      throw placed(reworded(thrown, culprit.prepared.othersBroke), culprit.path);
    }
  }

  /** A change of its own. */
  async change(change: Change): Promise<ChangeResult> {
    const { state } = this.#services;
    const before = state.current().cache.inconsistencies;
    const changed = await state.change(change);
    this.#warnings.push(...toleratedBy(change, before, changed.inconsistencies));
    return changed;
  }
}

/** An error that names no place gets that of the arguments; a stale version is about the whole request. */
export function placed(error: SvcError, path: Path): SvcError {
  return error.path === ROOT && error.code !== 'conflict' ? error.withPath(path) : error;
}

function reworded(error: SvcError, message: string | undefined): SvcError {
  if (message === undefined || !(error instanceof ChangeRefused && error.brokeOthers)) return error;
  const internal = error.internal === undefined ? {} : { internal: error.internal };
  return new SvcError('unexpected', message, { path: error.path, status: error.status, ...internal });
}

/** The element that is about an object at fault. */
function findCulprit(items: readonly Pending[], error: SvcError): Pending | undefined {
  if (!(error instanceof ChangeRefused)) return undefined;
  return items.find((item) => item.prepared.edited.some((id) => error.objects.includes(id)));
}
