import { type Change, makeChange } from '../api/changes.ts';
import { failureOf } from '../api/failure.ts';
import { runSteps } from '../api/metadata.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { showToast } from '../parts/toast.tsx';

/** Makes a change of the metadata and shows a failure as a toast. @returns the response; `null` if it failed or was discarded */
export async function attempt(change: Change): Promise<Json | null> {
  try {
    return await makeChange(change);
  } catch (error) {
    showToast(failureOf(error).message, { isError: true });
    return null;
  }
}

/** Runs an operation that changes no metadata, and shows the result as a toast. @returns true on success */
export async function runOperation(type: string, args: JsonObject, done: string): Promise<boolean> {
  try {
    await runSteps([{ type, args }]);
    showToast(done);
    return true;
  } catch (error) {
    showToast(failureOf(error).message, { isError: true });
    return false;
  }
}
