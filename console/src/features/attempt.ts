import { type Change, makeChange } from '../api/changes.ts';
import { failureOf } from '../api/failure.ts';
import { perform } from '../api/metadata.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { tell } from '../parts/toast.tsx';

/** Makes a change of the metadata; a failure is told. @returns the answer; null when it failed or was given up */
export async function attempt(change: Change): Promise<Json | null> {
  try {
    return await makeChange(change);
  } catch (error) {
    tell(failureOf(error).message, { isWrong: true });
    return null;
  }
}

/** Runs an operation that changes no metadata; a failure is told. @returns whether it succeeded */
export async function act(type: string, args: JsonObject, done: string): Promise<boolean> {
  try {
    await perform([{ type, args }]);
    tell(done);
    return true;
  } catch (error) {
    tell(failureOf(error).message, { isWrong: true });
    return false;
  }
}
