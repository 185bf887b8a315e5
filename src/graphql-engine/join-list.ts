/** The joins that a translation adds. Placeholders refer to them by index, which is assigned before the target is translated. */
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { RemoteJoin } from '../ir/remote-join.ts';
import type { Path } from '../util/path.ts';
import type { TranslatedJoin } from './translation.ts';

export interface JoinList {
  /** @returns the index of the join. @throws SvcError validation-failed if there are too many */
  add(path: Path, make: () => RemoteJoin): number;
  list(): readonly TranslatedJoin[];
}

/** Maximum joins of an operation: each is a request to a source or a server. */
const MAX_JOINS = 200;
const NONE: readonly TranslatedJoin[] = [];

export function createJoinList(): JoinList {
  let joins: (TranslatedJoin | null)[] | undefined;
  return {
    add(path, make) {
      joins ??= [];
      const index = joins.length;
      if (index >= MAX_JOINS) {
        throw new SvcError('validation-failed', `the operation has more than ${MAX_JOINS} fields from other sources`, { path });
      }
      joins.push(null);
      joins[index] = { path, target: make() };
      return index;
    },
    list: () =>
      joins?.map((join) => {
        invariant(join !== null, 'the operation is translated');
        return join;
      }) ?? NONE,
  };
}
