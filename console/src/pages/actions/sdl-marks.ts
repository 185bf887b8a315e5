import type { Failure } from '../../api/failure.ts';
import { DocumentError, parseActionDocument, placesOfRefusal } from '../../model/action-document.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';

/** A text that the service refused, and why. */
export interface Refused {
  readonly text: string;
  readonly failure: Failure;
}

/** What is wrong with SDL: where it cannot be read, or, while it is as it was refused, what the refusal names. */
export function marksOfSdl(sdl: string, refused: Refused | undefined): readonly CodeMark[] {
  try {
    parseActionDocument(sdl);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return [{ from: error.from, to: error.to, message: error.message }];
  }
  if (refused === undefined || refused.text !== sdl) return [];
  const { message } = refused.failure;
  return placesOfRefusal(message, sdl).map((place) => ({ ...place, message }));
}
